"""Runs the shop.

    pip install herald-sdk django
    HERALD_URL=http://127.0.0.1:7070 HERALD_ADMIN_API_KEY=$(cat data/admin-api-key) python manage.py runserver 8080
    curl -i 127.0.0.1:8080/orders -H 'Content-Type: application/json' -d '{"user":"bob","order":"456"}'
"""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
    execute_from_command_line(sys.argv)

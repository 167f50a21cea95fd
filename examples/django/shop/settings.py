"""The settings of a shop without a database."""

import os
import secrets

SECRET_KEY = os.environ.get("SECRET_KEY") or secrets.token_urlsafe()
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
ROOT_URLCONF = "shop.urls"

HERALD_URL = os.environ.get("HERALD_URL", "http://127.0.0.1:7070")
HERALD_ADMIN_API_KEY = os.environ["HERALD_ADMIN_API_KEY"]

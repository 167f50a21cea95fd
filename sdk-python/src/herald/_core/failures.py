"""Why there is no answer."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator

import httpx

from ..errors import HeraldError
from .answers import unreachable


def failure_without_answer(client: object, root: str, cause: httpx.RequestError, limit: float | None) -> HeraldError:
    """The error of a call without an answer, or with half of one. `limit` is how many seconds it was given.

    Its cause tells nothing of the request, whose headers have the key, and has no variables of the calls that made it.
    """
    if isinstance(cause, (httpx.LocalProtocolError, httpx.UnsupportedProtocol)):
        # The text of the cause quotes what is wrong, which may be a secret.
        why = "the request cannot be sent: it has a header or a body that HTTP does not allow"
        return unreachable(root, why, was_sent=False)
    proxy = _proxy_of(client, root)
    where = root if proxy is None else f"{root} through the proxy {proxy}"
    for each in _chain(cause):
        each.__traceback__ = None
        if isinstance(each, httpx.RequestError):
            each.request = httpx.Request("GET", root)
    certificate = next((each for each in _chain(cause) if isinstance(each, ssl.SSLCertVerificationError)), None)
    if certificate is not None:
        why = f"its certificate is not trusted ({certificate.verify_message}): SSL_CERT_FILE may name a file with its authority"
        error = unreachable(where, why, was_sent=False)
    else:
        error = unreachable(where, _reason(cause, limit))
    error.__cause__ = cause
    return error


def wrong_scheme(root: str) -> HeraldError:
    """The error of a call with the other scheme than that which the server speaks."""
    other = other_scheme(root)
    is_tls = root.startswith("https:")
    speaks = "plain HTTP on this port, not HTTPS" if is_tls else "HTTPS on this port, not plain HTTP"
    return unreachable(root, f"the server speaks {speaks}. Use {other} instead", was_sent=False)


def may_be_wrong_scheme(root: str, cause: httpx.RequestError) -> bool:
    """Whether a failure is one of those that the wrong scheme leads to."""
    if root.startswith("https:"):
        is_handshake = any(isinstance(each, (ssl.SSLError, ConnectionResetError)) for each in _chain(cause))
        return is_handshake and not is_untrusted(cause)
    return isinstance(cause, (httpx.RemoteProtocolError, httpx.ReadError))


def is_untrusted(cause: BaseException) -> bool:
    """Whether the server has shown a certificate, which is not trusted."""
    return any(isinstance(each, ssl.SSLCertVerificationError) for each in _chain(cause))


def other_scheme(root: str) -> str:
    """The address with http for https, and https for http."""
    scheme, _, rest = root.partition("://")
    return f"{'http' if scheme == 'https' else 'https'}://{rest}"


def _reason(cause: httpx.RequestError, limit: float | None) -> str:
    if isinstance(cause, httpx.TimeoutException):
        return "timed out" if limit is None else f"timed out after {round(limit, 1):g} s"
    for each in _chain(cause):
        if isinstance(each, socket.gaierror):
            return "the host name is unknown"
        if isinstance(each, ssl.SSLError):
            return "the TLS handshake failed"
        if isinstance(each, OSError) and each.errno is not None and each.errno > 0:
            return os.strerror(each.errno).lower()
    return str(cause) or type(cause).__name__


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it."""
    left = [error]
    seen: set[int] = set()
    while left:
        each = left.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        left += [one for one in (each.__cause__, each.__context__) if one is not None]
        left += getattr(each, "exceptions", ())


def _proxy_of(client: object, root: str) -> str | None:
    """The proxy that leads to the server, and the variable that names it. httpx tells it by no public name."""
    find = getattr(client, "_transport_for_url", None)
    pool = None if find is None else getattr(find(httpx.URL(root)), "_pool", None)
    url = getattr(pool, "_proxy_url", None)
    if url is None:
        return None
    names = [f"{root.partition(':')[0]}_proxy", "all_proxy"]
    named = [each for name in names for each in (name, name.upper()) if os.environ.get(each)]
    place = f"{url.host.decode()}:{url.port}"
    return f"{place} (from {named[0]})" if named else place

"""Variables that Kubernetes sets in every container for each service of the namespace.

A service named `runyard` (or `runyard-web`) adds variables that start like our settings, and one of them,
`RUNYARD_PORT`, has the name of a setting. This module recognises them by name and value.
"""

import re

_LINK = r"(?:tcp|udp|sctp)://\S+"
_ENDPOINT = r"\w+_PORT_[0-9]+_(?:TCP|UDP|SCTP)"
_FORMS = {
    r"\w+_SERVICE_HOST": r"[0-9a-fA-F.:]+",
    r"\w+_SERVICE_PORT(?:_\w+)?": r"[0-9]+",
    r"\w+_PORT": _LINK,
    _ENDPOINT: _LINK,
    _ENDPOINT + "_PROTO": r"tcp|udp|sctp",
    _ENDPOINT + "_PORT": r"[0-9]+",
    _ENDPOINT + "_ADDR": r"[0-9a-fA-F.:]+",
}


def is_service_variable(name: str, value: str) -> bool:
    """Tell whether Kubernetes set this variable. `RUNYARD_PORT=8000` is a setting, `RUNYARD_PORT=tcp://...` is not."""
    return any(re.fullmatch(form, name.upper()) and re.fullmatch(says, value) for form, says in _FORMS.items())

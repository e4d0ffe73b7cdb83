"""The shared base of all parts of the sealed store: the store below, and the seals."""

from runyard.encryption.seals import Seals
from runyard.store import Store


class Sealing:
    _store: Store
    _seals: Seals

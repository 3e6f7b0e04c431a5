"""Columns whose values are packed in the database: one reads and writes them as plain data.

They are not looked into by SQL. Statements that are written out read bytes, which ``unpack`` of
the column's module reads.
"""

from typing import TYPE_CHECKING, Any

from django.db import models

from webapp.stats.compare import pack_summary, unpack_summary

if TYPE_CHECKING:
    # The type takes parameters, the class does not.
    BinaryField = models.BinaryField[Any, Any]
else:
    BinaryField = models.BinaryField


class PackedField(BinaryField):
    """Plain data in a column of bytes, as `pack` and `unpack` of a subclass write and read them."""

    @staticmethod
    def pack(data: Any) -> bytes:
        """The bytes that are stored."""
        raise NotImplementedError

    @staticmethod
    def unpack(packed: bytes) -> Any:
        """What was packed."""
        raise NotImplementedError

    def from_db_value(self, value: bytes | None, *_: Any) -> Any:
        """The data; what is null stays so."""
        return None if value is None else self.unpack(value)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """As they are stored."""
        packed = None if value is None else self.pack(value)
        return super().get_db_prep_value(packed, connection, prepared)


class LevelsField(PackedField):
    """What `Summary.to_data` gives, with the digest of the builds."""

    pack = staticmethod(pack_summary)
    unpack = staticmethod(unpack_summary)

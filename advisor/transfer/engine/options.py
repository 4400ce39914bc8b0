"""How a transfer is kept, what it may replace, and how it is proven."""

from pathlib import Path

import msgspec

from advisor.domain.proof import Algorithm, Existing


class DeliveryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of every command that moves files.

    `journals`: the folder of the journals of incomplete transfers, `receipts` that of the receipts.
    `restart`: ignore the journal and move everything again. `existing`: what becomes of files that
    exist at the target. `algorithm`: of the checksums, None for sizes only. `take_over`: claim a
    target that another transfer has abandoned. `receipt`: write the receipt to this file instead.
    """

    journals: Path
    receipts: Path
    restart: bool = False
    existing: Existing = Existing.REFUSE
    algorithm: Algorithm | None = Algorithm.BLAKE3
    take_over: bool = False
    receipt: Path | None = None

"""Tables of results as somebody printed them: read, linted, recomputed."""

from unseen.result_tables.reading import read_all_tables, read_result_tables
from unseen.result_tables.table import PrintedCell, PrintedNumber, ResultTable

__all__ = ["PrintedCell", "PrintedNumber", "ResultTable", "read_all_tables", "read_result_tables"]

"""The harness: methods and mechanisms in, records, tables, plots and a report out."""

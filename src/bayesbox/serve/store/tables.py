"""The tables of a store, in SQL that SQLite and PostgreSQL both read; BLOB is BYTEA there.

    settings       the format of the store (formats.py), and the key of the HMACs
    models         one row per model: the head, which every commit moves: last event, rows, digest
    bases          the model file that the events are counted on top of
    events         what was learned and not forgotten, one row per event, in the order of their sequence numbers
    forgotten      the ids that were forgotten, as HMACs
    snapshots      the tallies as of some event numbers
    certificates   one for every forget
    audit          the log, each record with the hash of the previous one
    tokens         by their SHA-256

`models.changes` counts the commits of a model and `models.erasures` those that did more than append events: a reader
with an older number must read again. `models.retrained` is the last event that the derived parts include.
"""

from __future__ import annotations

TABLES = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS models (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, base_sha256 TEXT NOT NULL, base_digest TEXT NOT NULL,
    base_rows BIGINT NOT NULL, sequence BIGINT NOT NULL, rows BIGINT NOT NULL, digest TEXT NOT NULL,
    changes BIGINT NOT NULL, erasures BIGINT NOT NULL, retrained BIGINT NOT NULL, file_sha256 TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS bases (model INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    model INTEGER NOT NULL, sequence BIGINT NOT NULL, id TEXT NOT NULL, row TEXT NOT NULL, label TEXT NOT NULL,
    weight DOUBLE PRECISION NOT NULL, time DOUBLE PRECISION NOT NULL, PRIMARY KEY (model, sequence));
CREATE UNIQUE INDEX IF NOT EXISTS events_by_id ON events (model, id);
CREATE TABLE IF NOT EXISTS forgotten (
    model INTEGER NOT NULL, id TEXT NOT NULL, certificate BIGINT NOT NULL, PRIMARY KEY (model, id));
CREATE TABLE IF NOT EXISTS snapshots (
    model INTEGER NOT NULL, sequence BIGINT NOT NULL, digest TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (model, sequence));
CREATE TABLE IF NOT EXISTS certificates (
    model INTEGER NOT NULL, number BIGINT NOT NULL, document TEXT NOT NULL, retrained TEXT,
    PRIMARY KEY (model, number));
CREATE TABLE IF NOT EXISTS audit (
    number BIGINT PRIMARY KEY, time DOUBLE PRECISION NOT NULL, action TEXT NOT NULL, model TEXT, details TEXT NOT NULL,
    previous TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, expires DOUBLE PRECISION,
    label TEXT NOT NULL, created DOUBLE PRECISION NOT NULL, revoked DOUBLE PRECISION)
"""
"""Statements, separated by semicolons."""

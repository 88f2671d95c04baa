-- What a language model wrote beside the items' own words, where one is configured.

ALTER TABLE item ADD COLUMN enrichment TEXT; -- its text, its name, its times: a JSON object

-- What may be enriched, in the order in which it is: the newest first. As `_CANDIDATE` says it.
CREATE INDEX item_enrichable ON item (created_ms)
    WHERE deleted_ms IS NULL AND (kind = 'summary' OR discovery_tokens >= 2000);

CREATE TABLE llm_spending (
    day      TEXT PRIMARY KEY,           -- UTC, e.g. 2026-11-22
    tokens   INTEGER NOT NULL,           -- sent and received that day, those in flight included
    requests INTEGER NOT NULL            -- count of requests that were begun
) WITHOUT ROWID;

-- What a language model wrote beside the items' own words, where one is configured.

ALTER TABLE item ADD COLUMN enrichment TEXT; -- its text, its name, its times: a JSON object

-- What may be enriched, the newest first. The second holds nothing once all is done.
CREATE INDEX item_summary ON item (created_ms) WHERE deleted_ms IS NULL AND kind = 'summary';
CREATE INDEX item_large ON item (created_ms)
    WHERE deleted_ms IS NULL AND kind = 'observation' AND discovery_tokens >= 2000
        AND enrichment IS NULL;

CREATE TABLE llm_spending (
    day      TEXT PRIMARY KEY,           -- UTC, e.g. 2026-11-22
    tokens   INTEGER NOT NULL,           -- sent and received that day, those in flight included
    requests INTEGER NOT NULL            -- count of requests that were begun
) WITHOUT ROWID;

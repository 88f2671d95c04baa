-- Which items may not be shown unasked is a question of few: rows need not be read for it.

CREATE INDEX item_doubtful ON item (expires_ms, approval, suspicion)
    WHERE deleted_ms IS NULL
    AND (suspicion <> '' OR approval = 'provisional' OR expires_ms IS NOT NULL);

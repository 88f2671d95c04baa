-- What a note does to an older one, by an act of its author: it names it by id, by title or alias,
-- or as "#id". Wording alone voids nothing, so what was concluded from it goes.

DELETE FROM validity WHERE worktree = 0;

CREATE INDEX link_act ON link (title_key)
    WHERE target = 0 AND kind IN ('supersedes', 'amends');

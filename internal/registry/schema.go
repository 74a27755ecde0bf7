package registry

// migrations are the steps from an empty database to today's schema; the file's
// user_version counts those it has had. A step that was released never changes: add
// another. Times are Unix nanoseconds.
var migrations = []string{
	// 1: sessions and runs.
	`
	CREATE TABLE sessions (
		n             INTEGER PRIMARY KEY, -- order of arrival, which no clock can upset; lists walk it backwards
		id            TEXT    NOT NULL UNIQUE,
		version       INTEGER NOT NULL,
		closed_at     INTEGER,
		provider      TEXT    NOT NULL,
		cwd           TEXT    NOT NULL,
		haystack      TEXT    NOT NULL,    -- title and cwd as search sees them, see search.go
		kind          TEXT    NOT NULL CHECK (kind IN ('conversation', 'flow')),
		title         TEXT    NOT NULL,
		title_source  TEXT    NOT NULL CHECK (title_source IN ('human', 'generated', 'unavailable')),
		model         TEXT    NOT NULL,
		restart       TEXT    NOT NULL CHECK (restart IN ('never', 'on-failure', 'always')),
		created_at    INTEGER NOT NULL,
		current_run   TEXT    NOT NULL REFERENCES runs (id),
		ready_run     TEXT    REFERENCES runs (id),
		ready_summary TEXT,
		CHECK ((ready_run IS NULL) = (ready_summary IS NULL))
	) STRICT;

	-- One index for each way a list can be narrowed. Each is in the order of n too,
	-- so that a page ends where it is full. See list.go.
	CREATE INDEX sessions_cwd           ON sessions (cwd);
	CREATE INDEX sessions_provider      ON sessions (provider);
	CREATE INDEX sessions_open          ON sessions (n)        WHERE closed_at IS NULL;
	CREATE INDEX sessions_open_cwd      ON sessions (cwd)      WHERE closed_at IS NULL;
	CREATE INDEX sessions_open_provider ON sessions (provider) WHERE closed_at IS NULL;

	-- Opening requests are large and never change: apart, they cost a list nothing,
	-- and a change of the row does not write them again.
	CREATE TABLE requests (
		n    INTEGER PRIMARY KEY REFERENCES sessions (n),
		body BLOB NOT NULL
	) STRICT;

	CREATE TABLE runs (
		id         TEXT    PRIMARY KEY,
		session_id TEXT    NOT NULL REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED, -- a run comes first
		seq        INTEGER NOT NULL,
		created_at INTEGER NOT NULL,
		reason     TEXT    NOT NULL,
		UNIQUE (session_id, seq)
	) STRICT, WITHOUT ROWID;

	-- Which sessions' haystacks contain which three characters. See search.go.
	CREATE VIRTUAL TABLE search USING fts5 (
		haystack, content = 'sessions', content_rowid = 'n',
		tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0
	);
	CREATE TRIGGER search_new AFTER INSERT ON sessions BEGIN
		INSERT INTO search (rowid, haystack) VALUES (new.n, new.haystack);
	END;
	CREATE TRIGGER search_changed AFTER UPDATE OF haystack ON sessions WHEN old.haystack <> new.haystack BEGIN
		INSERT INTO search (search, rowid, haystack) VALUES ('delete', old.n, old.haystack);
		INSERT INTO search (rowid, haystack) VALUES (new.n, new.haystack);
	END;
	`,
}

-- Whatever the statistics say, or do not say yet: the receipts of a user are found by their index.
alter function private.count_plays(jsonb, uuid) set enable_seqscan = off;

-- Lists changes of the catalogue in the last 30 days, newest first, one line for each transaction: what it did, and who.
-- Take "change" for undo_an_edit.
select change, changed_at, what, changed_by, edits from admin.recent_edits limit 100;

-- Lists changes of the catalogue in the last 30 days, newest first, with one line for each transaction.
-- To take a change back, copy its "change" into undo_an_edit.
select change, changed_at, what, changed_by, edits from admin.recent_edits limit 100;

-- Takes a change of the catalogue back, where nothing changed it again. Undo the undo to repeat the change.
-- Replace the change, which list_recent_edits shows.
-- To take back everything since a time of the last 30 days:
-- select * from admin.undo_since('<YYYY-MM-DD HH:MM Europe/Berlin>');
select * from admin.undo('<change>');

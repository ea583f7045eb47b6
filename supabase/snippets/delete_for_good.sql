-- Deletes a row of the trash for good, with its favorites, plays and places on the home page. This cannot be undone.
-- Replace sounds by the table_name and the id by that of the row, as list_the_trash shows them.
select admin.delete_for_good('sounds', '<id of the row>');

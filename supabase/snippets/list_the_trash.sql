-- Lists deleted sounds, categories and home sections, the last one first, and until when they are kept.
-- To bring one back, set its is_active to true in its table, or, to keep it hidden, its deleted_at to null.
-- To bring several back as they were, run undo_an_edit with their deletion: what was hidden before stays hidden.
select table_name, name, deleted_at, kept_until, named_by, id from admin.trash;

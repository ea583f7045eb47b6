-- Lists deleted sounds, categories and home sections, the last one first, and until when they are kept.
-- To bring one back, set its is_active to true in its table.
select table_name, name, deleted_at, kept_until, named_by, id from admin.trash;

-- The same for one section. Replace the slug.
select position, sound, why from admin.home_explained where section = '<slug of the section>';

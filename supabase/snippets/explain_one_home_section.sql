-- Shows the sounds of one section, and the reason why other matching sounds are not shown. Replace the slug.
select position, sound, why from admin.home_explained where section = '<slug of the section>';

-- Shows the sounds of one section, and the reason why other matching sounds are not shown. Replace the slug.
select explained.position, explained.sound, explained.why
from admin.section_named('<slug of the section>') as named
  left join admin.home_explained as explained on explained.section = named.slug
order by explained.position nulls last, explained.sound;

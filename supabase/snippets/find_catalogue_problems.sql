-- Everything in the catalogue that listeners would stumble over, and what to do about each.
select * from admin.catalogue_problems;

-- Lists problems of the catalogue that listeners notice, and unused files, each with its fix.
select * from admin.catalogue_problems;

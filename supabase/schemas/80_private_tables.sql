-- API roles cannot read the tables of the schema private, because they have no grant and this policy allows no rows.

do $$
declare
  private_table regclass;
begin
  for private_table in select oid from pg_class where relnamespace = 'private'::regnamespace and relkind = 'r' loop
    execute format('alter table %s enable row level security', private_table);
    execute format(
      'create policy "Nobody reaches this table" on %s for all to anon, authenticated, service_role '
      'using (false) with check (false)',
      private_table
    );
  end loop;
end
$$;

-- Everything that is kept of a user, for the user (GDPR, articles 15 and 20).

-- Definer, because nobody else reaches these tables.
create function private.export_account() returns json
language sql stable security definer set search_path = '' as $$
  select json_build_object(
    'api_keys', array(
      select json_build_object('name', name, 'key_prefix', key_prefix)
      from private.api_keys where owner_id = auth.uid() order by created_at, key_prefix
    ),
    'play_receipts', array(
      select json_build_object(
        'key', key, 'sound_id', sound_id,
        'received_at', to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      )
      from private.play_receipts where user_id = auth.uid() order by received_at, key
    ),
    'listening_days', array(select day from private.listening_days where user_id = auth.uid() and listened order by day)
  )
$$;
grant execute on function private.export_account to authenticated;

create function public.export_account() returns json
language sql stable set search_path = '' as $$
  select private.require_account();
  select json_build_object(
    'customer', (select row_to_json(customer) from private.customer as customer where id = (select auth.uid())),
    'favorites', array(select favorite from private.favorite as favorite),
    'history', array(select entry from private.history_entry as entry),
    'api_keys', hidden.kept -> 'api_keys',
    'play_receipts', hidden.kept -> 'play_receipts',
    'listening_days', hidden.kept -> 'listening_days'
  )
  from private.export_account() as hidden (kept)
$$;
comment on function public.export_account is 'Everything that is kept of the caller: one JSON object.';
grant execute on function public.export_account to authenticated;

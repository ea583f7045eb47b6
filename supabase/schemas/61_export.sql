-- Exports the data of a user (GDPR, articles 15 and 20). Runs as definer, because API roles cannot read these tables.
create function private.export_account(
  out api_keys json, out play_receipts json, out listening_days json, out progress json, out history_clearings json,
  out removed_lists json
) language sql stable security definer set search_path = '' as $$
  select
    to_json(array(
      select json_build_object('name', name, 'key_prefix', key_prefix)
      from private.api_keys where owner_id = auth.uid() order by created_at, key_prefix
    )),
    to_json(array(
      select json_build_object('key', key, 'sound_id', sound_id, 'received_at', private.iso_time(received_at))
      from private.play_receipts where user_id = auth.uid() order by received_at, key
    )),
    to_json(array(select day from private.listening_days where user_id = auth.uid() and listened order by day)),
    to_json(array(
      select json_build_object(
        'sound_id', sound_id, 'position_sec', position_sec, 'updated_at', private.iso_time(own.updated_at))
      from public.progress as own where user_id = auth.uid() order by own.updated_at desc, sound_id
    )),
    to_json(array(
      select json_build_object('sound_id', sound_id, 'cleared_at', private.iso_time(cleared_at))
      from private.history_clearings where user_id = auth.uid() order by cleared_at desc, sound_id
    )),
    to_json(array(
      select json_build_object('id', id, 'removed_at', private.iso_time(removed_at))
      from private.removed_lists where user_id = auth.uid() order by removed_at desc, id
    ))
$$;

-- Returns the body as the gateway sends it, because a month of plays takes megabytes.
create function public.export_account() returns json language sql stable set search_path = '' as $$
  select private.require_account();
  select json_build_object(
    'profile', json_build_object(
      'id', auth.uid(), 'email', coalesce(customer.email, nullif(auth.jwt() ->> 'email', '')),
      'full_name', customer.full_name, 'avatar_url', customer.avatar_url
    ),
    'customer', case when customer.id is not null then row_to_json(customer) end,
    'favorites', array(select favorite from private.favorite as favorite),
    'history', array(select entry from private.history_entry as entry),
    'api_keys', hidden.api_keys,
    'play_receipts', hidden.play_receipts,
    'listening_days', hidden.listening_days,
    'progress', hidden.progress,
    'history_clearings', hidden.history_clearings,
    'lists', private.list_lists(),
    'removed_lists', hidden.removed_lists
  )
  from private.export_account() as hidden
  left join private.customer as customer on customer.id = (select auth.uid())
$$;
comment on function public.export_account is
  'Returns all data that is stored about the caller, except the sessions, for GET /me/export.';

grant execute on function private.export_account, public.export_account to authenticated;

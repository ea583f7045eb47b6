import { describe, expect, inject } from 'vitest';
import { problemsIn, test } from '../support/doctor-stack.ts';

// On auth.users, which belongs to Auth: the role of the SQL editor may neither drop nor disable a trigger there.
describe.runIf(inject('stack').embedded)('npm run doctor gives SQL that the role postgres may run', () => {
  test.for([
    'sounds_service_forget_account',
    'sounds_service_create_customer',
    'sounds_service_mirror_account',
    'sounds_service_note_new_account',
    'sounds_service_void_what_came_before',
    'sounds_service_set_ban_aside',
  ])('when the trigger %s was switched off', async (name, { ownStack }) => {
    await ownStack.superuser.unsafe(`alter table auth.users disable trigger ${name}`);
    const results = await ownStack.diagnose();
    expect(problemsIn(results)).toEqual(['Triggers on auth.users']);
    const remedy = results['Triggers on auth.users']?.remedy ?? '';
    await ownStack.sql.unsafe(remedy.replace(/^Run in the SQL editor: /, ''));
    expect(problemsIn(await ownStack.diagnose())).toEqual([]);
  });

  test('when a trigger that is not of the service fails', async ({ ownStack }) => {
    await ownStack.sql.unsafe(`
      create function public.sync_to_crm() returns trigger language plpgsql as 'begin raise exception ''no CRM''; end';
      create trigger sync_to_crm after insert on auth.users for each row execute function public.sync_to_crm()`);
    await expect(ownStack.sql.unsafe('drop trigger sync_to_crm on auth.users')).rejects.toThrow(
      /must be owner/,
    );
    const results = await ownStack.diagnose();
    expect(problemsIn(results)).toEqual(['Accounts']);
    const [, sql = ''] =
      / To remove sync_to_crm, which does not belong to this service: (.+;)$/.exec(
        results['Accounts']?.remedy ?? '',
      ) ?? [];
    await ownStack.sql.unsafe(sql);
    expect(problemsIn(await ownStack.diagnose())).toEqual([]);
  });
});

import { decodeProtectedHeader } from 'jose';
import { ApiError } from '../errors.ts';
import { hashOfApiKey } from '../model/api-key.ts';
import type { UserCaller } from '../model/caller.ts';
import type { Check } from './check.ts';
import { migrations } from './database.ts';
import { NotChecked, Problem, reasonOf } from './problem.ts';
import { publishableKey, secretKey } from './project.ts';
import { askGateway, forwardedAddress, type Visit } from './visit.ts';

/** Runs a function that only the service may run. */
async function asService(visit: Visit, name: string, body: object): Promise<unknown> {
  const key = visit.config.secrets.supabaseSecretKey;
  const answer = await visit.ask(`/rest/v1/rpc/${name}`, { method: 'POST', key, body });
  if (answer.status < 300) return answer.body;
  throw new Problem(
    `The database answered ${answer.status} to ${name}.`,
    'Look at Logs, Postgres, in the dashboard; a migration that was changed by hand must be applied again.',
  );
}

/**
 * What can be done about triggers that are none of ours. To drop or disable one takes the owner of auth.users, which the
 * role postgres is not; only hosted projects let it drop them all the same.
 */
function foreignTriggers({ report }: Visit): string {
  const foreign = Object.entries(report.account_triggers).filter(([name]) => !Object.hasOwn(triggers, name));
  const remedies = foreign.map(
    ([name, routine]) =>
      ` To remove ${name}, which does not belong to this service: drop function ${routine} cascade;`,
  );
  return remedies.join('');
}

export const account: Check = {
  name: 'Accounts',
  needs: [secretKey],
  async run(visit) {
    const { email, password } = visit.account;
    const key = visit.config.secrets.supabaseSecretKey;
    const { status, body } = await visit.ask('/auth/v1/admin/users', {
      method: 'POST',
      key,
      body: { email, password, email_confirm: true },
    });
    if (status !== 200)
      throw new Problem(
        `No account could be created (${status}).`,
        status >= 500
          ? `A trigger on auth.users fails: look at Logs, Postgres, in the dashboard for its error.${foreignTriggers(visit)}`
          : 'Look at Logs, Auth, in the dashboard.',
      );
    const { id } = body as { id: string };
    visit.account.id = id;
    visit.later(`the account ${email}`, async () => {
      const removed = await visit.ask(`/auth/v1/admin/users/${id}`, { method: 'DELETE', key });
      if (removed.status !== 200) throw new Error(`Auth answered ${removed.status}`);
    });
    return 'A temporary account was created.';
  },
};

const triggers = {
  sounds_service_forget_account:
    'after delete on auth.users for each row execute function private.forget_account()',
  sounds_service_create_customer:
    'after insert on auth.users for each row execute function private.create_customer()',
  sounds_service_mirror_account:
    'after update of email, email_confirmed_at, raw_app_meta_data, deleted_at on auth.users for each row execute function private.mirror_account()',
  sounds_service_note_new_account:
    'after insert on auth.users for each row when (new.email_confirmed_at is null) execute function private.note_new_account()',
  sounds_service_void_what_came_before:
    'before update of email_confirmed_at on auth.users for each row when (old.email_confirmed_at is null and new.email_confirmed_at is not null) execute function private.void_what_came_before()',
  sounds_service_limit_metadata:
    "before insert or update of raw_user_meta_data on auth.users for each row when (octet_length(regexp_replace(new.raw_user_meta_data::text, '[<>&]', '123456', 'g')) > 3000) execute function private.limit_metadata()",
  sounds_service_set_ban_aside:
    "before update of banned_until on auth.users for each row when (old.banned_until is distinct from new.banned_until and new.banned_until is distinct from timestamptz '9999-12-31 00:00:00+00') execute function private.set_ban_aside()",
};

export const accountTriggers: Check = {
  name: 'Triggers on auth.users',
  needs: [migrations],
  run(visit) {
    for (const [name, definition] of Object.entries(triggers)) {
      if (name in visit.report.account_triggers) continue;
      throw new Problem(
        `The trigger ${name} is missing or disabled: accounts and customers get out of sync.`,
        `Run in the SQL editor: create or replace trigger ${name} ${definition}; insert into public.customers select customer.* from auth.users as account, private.customer_of(account) as customer on conflict (id) do nothing;`,
      );
    }
    return 'All are there and switched on.';
  },
};

const jwtPage = 'Project Settings, JWT Keys, in the dashboard';

/** What to do about a token of the project that cannot be verified, by how it is signed. */
function unverifiable(token: string, secretIsSet: boolean): string {
  const { alg } = decodeProtectedHeader(token);
  if (alg !== 'HS256')
    return `The project publishes no key for it. After a rotation wait 20 minutes; otherwise see ${jwtPage}.`;
  return secretIsSet
    ? `SUPABASE_JWT_SECRET is not the secret of this project: copy it from ${jwtPage}, Legacy JWT Secret.`
    : `The project signs with its shared secret: set SUPABASE_JWT_SECRET to it, or change to signing keys. Both are in ${jwtPage}.`;
}

export const accessToken: Check = {
  name: 'Access tokens',
  needs: [account, accountTriggers],
  async run(visit) {
    const { email, password } = visit.account;
    const session = await visit.auth.signIn({ email, password }, forwardedAddress).catch((error: unknown) => {
      throw new Problem(
        `The temporary account cannot sign in with its password: ${reasonOf(error)}.`,
        'Switch on Email under Authentication, Sign In / Providers, in the dashboard.',
        error,
      );
    });
    await visit.verify(session.access_token).catch((error: unknown) => {
      const secretIsSet = visit.config.secrets.supabaseJwtSecret !== null;
      throw new Problem(
        `A token of the project cannot be verified: ${reasonOf(error)}.`,
        error instanceof ApiError && error.code === 'server_error'
          ? 'Look at /auth/v1/.well-known/jwks.json of the project.'
          : unverifiable(session.access_token, secretIsSet),
        error,
      );
    });
    visit.token = session.access_token;
    return `A real token was verified (${decodeProtectedHeader(visit.token).alg}).`;
  },
};

export const customerRecord: Check = {
  name: 'Customer records',
  needs: [publishableKey, accountTriggers, accessToken],
  async run(visit) {
    const caller: UserCaller = {
      via: 'jwt',
      userId: visit.account.id,
      token: visit.token,
      claims: { signedInAt: 0 },
    };
    const customer = await visit.data.find(caller, 'get_customer');
    if (customer !== null) return 'A new account has its customer record.';
    throw new Problem(
      'A new account has no customer record.',
      'Look at Logs, Postgres, in the dashboard for an error of private.create_customer.',
    );
  },
};

/** Whether a key is accepted: by the gateway, where one is named, else by the database. */
async function isAccepted(visit: Visit, key: string): Promise<boolean> {
  if (visit.gateway !== null) {
    const headers = { Authorization: `Bearer ${key}` };
    const { status } = await askGateway(visit, '/api/v1/me', { headers }).catch((error: Error) => {
      throw new NotChecked(error.message); // the check of the gateway itself has told what to do
    });
    return status === 200;
  }
  const caller = { via: 'api_key', keyHash: hashOfApiKey(key) } as const;
  return visit.data.find(caller, 'get_customer').then(
    () => true,
    () => false,
  );
}

export const apiKeys: Check = {
  name: 'API keys',
  needs: [customerRecord],
  async run(visit) {
    const remedy =
      'Apply the migrations (npx supabase db push), then look at Logs, Postgres, in the dashboard.';
    const key = await asService(visit, 'doctor_issue_key', { account: visit.account.id });
    if (typeof key !== 'string') throw new Problem('No API key could be issued.', remedy);
    if (!(await isAccepted(visit, key)))
      throw new Problem('An API key that was just issued is refused.', remedy);
    await asService(visit, 'doctor_revoke_key', { prefix: key.slice(0, 16) });
    if (await isAccepted(visit, key)) throw new Problem('A revoked API key is still accepted.', remedy);
    return 'One was issued, used and revoked.';
  },
};

/** Where Auth thinks that the temporary account was signed in to, oldest first. */
export async function sessionAddresses(visit: Visit): Promise<(string | null)[]> {
  return (await asService(visit, 'doctor_session_addresses', { account: visit.account.id })) as (
    | string
    | null
  )[];
}

export const addressForwarding: Check = {
  name: 'IP address forwarding',
  needs: [migrations, accessToken],
  async run(visit) {
    const [noted] = await sessionAddresses(visit);
    if (noted === forwardedAddress) return "Auth applies its limits to the app user's address.";
    if (/^https?:\/\/(127\.|localhost|\[::1\])/.test(visit.config.supabase.url))
      throw new NotChecked('A local stack does not forward addresses.');
    throw new Problem(
      'Auth mistakes the gateway for the client: all app users share one sign-in limit.',
      'Switch on IP address forwarding under Authentication, Rate Limits, in the dashboard, and use a secret key that begins with sb_secret_.',
    );
  },
};

import { extname } from 'node:path';
import type { Stack } from '@sounds-service/local-supabase/stack';
import postgres from 'postgres';
import { demoAccount, freeAccount } from './seed.ts';
import type { Settings } from './settings.ts';

/** curl command that ends each response with a line break. */
const curlCommand = "curl -sw '\\n'";

/** Returns what `npm run dev` prints at the end: addresses, keys, an account, and commands to paste. */
export async function summary(stack: Stack, settings: Settings): Promise<string> {
  const { gatewayPort, playerPort, emailConfirmations, host } = settings;
  const gateway = `http://127.0.0.1:${gatewayPort}`;
  const api = `${gateway}/api/v1`;
  const calls = await sampleCalls(stack.databaseUrl, api);
  const phones = host ? `\n\n  From phones    http://${host}:${gatewayPort}/api/v1  (files: ${stack.publicUrl})` : '';
  return `
  Player         http://127.0.0.1:${playerPort}/  (open it in a browser: one click plays the first sound)

  Gateway        ${api}
  Reference      ${api}/docs
  Supabase       ${stack.apiUrl}  (an emulator: packages/local-supabase/README.md lists what differs from the real one)
  Studio         ${stack.apiUrl}/  (browse and edit the public tables)
  Database       ${stack.databaseUrl}  (psql, or the line below)${phones}

  Publishable    ${stack.publishableKey}
  Secret         ${stack.secretKey}

  Demo account   ${demoAccount.email} / ${demoAccount.password}  (with premium; without: ${freeAccount.email})

Sign in, list, fetch audio:

${calls.join('\n')}

In this folder: sign in with an ID token like one of Google (Apple: --provider apple), and run SQL:

${curlCommand} ${api}/auth/oauth/idp -H 'Content-Type: application/json' -d "{\\"id_token\\":\\"$(npm run -s id-token -- --email ada@example.com)\\"}"
DO_NOT_TRACK=1 npx supabase db query --yes --remote=${stack.databaseUrl} 'select email, source from public.customers'

An account of your own, from sign-up through a forgotten password to deletion. The commands look up the mailed codes:

${accountCalls(api, stack.apiUrl, emailConfirmations).join('\n')}

Ctrl-C stops everything. The data is kept until npm run dev -- --fresh.
`;
}

/** Returns commands for a POSIX shell. Adds the audio if the catalogue has some. */
async function sampleCalls(databaseUrl: string, api: string): Promise<string[]> {
  const sql = postgres(databaseUrl, { max: 1 });
  const [sound] = await sql<{ id: string; audio_path: string }[]>`
    select id, audio_path from public.sounds where is_active and audio_path is not null
    order by sort_order, created_at desc limit 1`.finally(() => sql.end());
  const calls = [
    `TOKEN=$(curl -s ${api}/auth/signin -H 'Content-Type: application/json' -d '${JSON.stringify(demoAccount)}' | ${member('access_token')})`,
    `${curlCommand} '${api}/sounds?limit=3' -H "Authorization: Bearer $TOKEN"`,
  ];
  if (!sound) return calls;
  const url = `$(curl -s ${api}/sounds/${sound.id} -H "Authorization: Bearer $TOKEN" | ${member('audio_url')})`;
  return [...calls, `curl -so sound${extname(sound.audio_path)} "${url}"`];
}

/** Returns commands for a POSIX shell. The last one removes what the others create, so that they can be repeated. */
function accountCalls(api: string, mailUrl: string, emailConfirmations: boolean): string[] {
  const email = 'eve@example.com';
  const post = (path: string, body: string, token = '') =>
    `${curlCommand} ${api}${path} ${token}-H 'Content-Type: application/json' -d ${body}`;
  const code = `CODE=$(curl -s '${mailUrl}/api/v1/search?query=to:${email}' | grep -owE '[0-9]{8}' | head -n 1)`;
  const verify = (type: string, more = '') =>
    `TOKEN=$(${post('/auth/verify', `"{\\"type\\":\\"${type}\\",\\"email\\":\\"${email}\\",\\"code\\":\\"$CODE\\"${more}}"`)} | ${member('access_token')})`;
  const bearer = '-H "Authorization: Bearer $TOKEN" ';
  return [
    post('/auth/signup', `'${JSON.stringify({ email, password: 'first-password' })}'`),
    ...(emailConfirmations ? [code, verify('signup', ',\\"password\\":\\"first-password\\"')] : []),
    post('/auth/recover', `'${JSON.stringify({ email })}'`),
    code,
    verify('recovery'),
    post('/auth/password', `'${JSON.stringify({ password: 'second-password' })}'`, bearer),
    `${curlCommand} -X DELETE ${api}/me ${bearer.trim()}`,
  ];
}

/** Returns a sed command that extracts one string from JSON. It prints any other response to stderr. */
function member(name: string): string {
  return `sed -n -e 's/.*"${name}":"\\([^"]*\\)".*/\\1/p' -e t -e 'w /dev/stderr'`;
}

import { extname } from 'node:path';
import postgres from 'postgres';
import { DEMO } from './seed.ts';
import type { Stack } from './stack.ts';

/** What somebody needs to know who has just started the stack: addresses, keys, an account, and calls to paste. */
export async function summary(stack: Stack, gatewayPort: number): Promise<string> {
  const gateway = `http://127.0.0.1:${gatewayPort}`;
  const calls = await sampleCalls(stack.databaseUrl, `${gateway}/api/v1`);
  return `
  Gateway        ${gateway}/api/v1
  Supabase       ${stack.apiUrl}
  Studio         ${stack.apiUrl}/  (browse and edit the public tables)
  Database       ${stack.databaseUrl}  (psql, or the line below)

  Publishable    ${stack.publishableKey}
  Secret         ${stack.secretKey}
  JWT secret     ${stack.jwtSecret}

  Demo account   ${DEMO.email} / ${DEMO.password}

Sign in, list, fetch audio:

${calls.join('\n')}

In this folder: sign in with an ID token as Google gives it to apps (Apple: --provider apple), run SQL:

curl -s ${gateway}/api/v1/auth/oauth/idp -H 'Content-Type: application/json' -d "{\\"id_token\\":\\"$(npm run -s id-token -- --email ada@example.com)\\"}"
npx supabase db query --yes --remote=${stack.databaseUrl} 'select email, source from public.customers'

Ctrl-C ends everything. The data stays until npm run dev -- --fresh.
`;
}

/** Lines for any POSIX shell, to be pasted in this order; the audio only where there is some. */
async function sampleCalls(databaseUrl: string, api: string): Promise<string[]> {
  const sql = postgres(databaseUrl, { max: 1 });
  const [sound] = await sql<{ id: string; audio_path: string }[]>`
    select id, audio_path from public.sounds where is_active and audio_path is not null
    order by sort_order, created_at desc limit 1`.finally(() => sql.end());
  const calls = [
    `TOKEN=$(curl -s ${api}/auth/signin -H 'Content-Type: application/json' -d '${JSON.stringify(DEMO)}' | ${member('access_token')})`,
    `curl -s '${api}/sounds?limit=3' -H "Authorization: Bearer $TOKEN"`,
  ];
  if (!sound) return calls;
  const url = `$(curl -s ${api}/sounds/${sound.id} -H "Authorization: Bearer $TOKEN" | ${member('audio_url')})`;
  return [...calls, `curl -so sound${extname(sound.audio_path)} "${url}"`];
}

/** Picks one string out of JSON without a JSON parser. */
function member(name: string): string {
  return `sed 's/.*"${name}":"\\([^"]*\\)".*/\\1/'`;
}

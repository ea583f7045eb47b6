import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiOptions, startApi } from '@sounds-service/local-supabase/api';
import { inject } from 'vitest';
import { type Api, apiAt } from './api.ts';
import { fixture } from './fixture.ts';
import { startGateway } from './gateway.ts';
import { test } from './test.ts';

/** Settings that may differ from those of the common project. */
type Settings = Pick<ApiOptions, 'emailConfirmations' | 'emailSignIn' | 'signing' | 'captcha'>;

interface Project {
  url: string;
  mailUrl: string;
  /** Client of a gateway for this project. */
  api: Api;
  gatewayUrl: string;
}

/**
 * Test function with a separate project for the file, on the same database. It needs the embedded stack.
 * @param env additional environment variables of its gateway
 */
export const testWithProject = (settings: Settings, env: Record<string, string> = {}) =>
  test.extend<{ $file: { project: Project } }>({
    project: [
      fixture(async (use) => {
        const { apiUrl, databaseUrl, embedded, confirmingUrl, mailUrl } = inject('stack');
        const storageDir = await mkdtemp(join(tmpdir(), 'sounds-service-project-'));
        const supabase = embedded ? await startApi({ databaseUrl, storageDir, port: 0, ...settings }) : undefined;
        // Without the embedded stack, use the common project. Tests that need more are skipped there.
        const url = supabase?.url ?? (confirmingUrl || apiUrl);
        const gateway = await startGateway({ SUPABASE_URL: url, ...env });
        const api = apiAt(gateway.url);
        await use({ url, mailUrl: supabase?.url ?? mailUrl, api, gatewayUrl: gateway.url });
        await gateway.close();
        await supabase?.stop();
        await rm(storageDir, { recursive: true });
      }),
      { scope: 'file' },
    ],
  });

/** Test function with a project that requires confirmed addresses, which another stack may offer: see `canConfirm`. */
export const testWithConfirmations = (env: Record<string, string> = {}) =>
  testWithProject({ emailConfirmations: true }, env);

/** Tells whether there is a project that requires confirmed addresses. */
export function canConfirm(): boolean {
  const { embedded, confirmingUrl, mailUrl } = inject('stack');
  return embedded || (confirmingUrl !== '' && mailUrl !== '');
}

export const noConfirmations =
  'Set TEST_SUPABASE_CONFIRMING_URL and TEST_SUPABASE_MAIL_URL to test addresses that must be confirmed.';

/** Tells whether the project has guests switched on, as the embedded one has. @param url address of a gateway */
export async function allowsGuests(url: string): Promise<boolean> {
  if (inject('stack').embedded) return true;
  const { data } = (await (await fetch(`${url}/config`)).json()) as { data: { guests: boolean } };
  return data.guests;
}

export const noGuests = 'The project has guests switched off. docs/deploy.md says how to switch them on.';

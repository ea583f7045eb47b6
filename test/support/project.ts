import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiOptions, startApi } from 'local-supabase/api';
import { inject } from 'vitest';
import { type Api, apiAt } from './api.ts';
import { fixture } from './fixture.ts';
import { startGateway } from './gateway.ts';
import { test } from './test.ts';

/** Settings in which a project may differ from that of the other tests. */
type Settings = Pick<ApiOptions, 'emailConfirmations' | 'emailSignIn' | 'signing' | 'captcha'>;

type Project = {
  /** Address of its Supabase. */
  url: string;
  /** Address of its mailbox. */
  mailUrl: string;
  /** The service in front of it, and where that is. */
  api: Api;
  gatewayUrl: string;
};

async function withProject(
  settings: Settings,
  use: (supabase: Pick<Project, 'url' | 'mailUrl'>) => Promise<void>,
): Promise<void> {
  const { databaseUrl, embedded, confirmingUrl, mailUrl } = inject('stack');
  if (!embedded) return use({ url: confirmingUrl, mailUrl });
  const storageDir = await mkdtemp(join(tmpdir(), 'sounds-service-project-'));
  const supabase = await startApi({ databaseUrl, storageDir, port: 0, ...settings });
  await use({ url: supabase.url, mailUrl: supabase.url });
  await supabase.stop();
  await rm(storageDir, { recursive: true });
}

/**
 * vitest's test with another project on the same database, of the file's own; it needs the embedded stack.
 * @param env what its gateway has to know besides
 */
export const testWithProject = (settings: Settings, env: Record<string, string> = {}) =>
  test.extend<{ $file: { project: Project } }>({
    project: [
      fixture(async (use) => {
        await withProject(settings, async (supabase) => {
          const gateway = await startGateway({ SUPABASE_URL: supabase.url, ...env });
          await use({ ...supabase, api: apiAt(gateway.url), gatewayUrl: gateway.url });
          await gateway.close();
        });
      }),
      { scope: 'file' },
    ],
  });

/** The same with a project that has new addresses confirmed, which a given stack may offer as well: see `canConfirm`. */
export const testWithConfirmations = (env: Record<string, string> = {}) =>
  testWithProject({ emailConfirmations: true }, env);

/** Returns whether there is a project that confirms addresses. */
export function canConfirm(): boolean {
  const { embedded, confirmingUrl, mailUrl } = inject('stack');
  return embedded || (confirmingUrl !== '' && mailUrl !== '');
}

export const noConfirmations =
  'Set TEST_SUPABASE_CONFIRMING_URL and TEST_SUPABASE_MAIL_URL to test addresses that must be confirmed.';

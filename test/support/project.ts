import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type ApiOptions, startApi } from '../../dev/api.ts';
import { type Api, apiAt } from './api.ts';
import { alone } from './fixture.ts';
import { startGateway } from './gateway.ts';
import { test } from './test.ts';

/** What can be set otherwise in a project than in that of the other tests. */
type Settings = Pick<ApiOptions, 'emailConfirmations' | 'emailSignIn' | 'anonymousSignIn' | 'signing'>;

type Project = {
  /** Of its Supabase. */
  url: string;
  /** The service in front of it. */
  api: Api;
};

/**
 * vitest's test with another project on the same database, of the file's own; it needs the embedded stack.
 * @param env what its gateway has to know besides
 */
export const testWithProject = (settings: Settings, env: Record<string, string> = {}) =>
  test.extend<{ $file: { project: Project } }>({
    project: [
      alone(async (use) => {
        const storageDir = await mkdtemp(join(tmpdir(), 'sounds-service-project-'));
        const { databaseUrl } = inject('stack');
        const supabase = await startApi({ databaseUrl, storageDir, port: 0, ...settings });
        const gateway = await startGateway({ SUPABASE_URL: supabase.url, ...env });
        await use({ url: supabase.url, api: apiAt(gateway.url) });
        await gateway.close();
        await supabase.stop();
        await rm(storageDir, { recursive: true });
      }),
      { scope: 'file' },
    ],
  });

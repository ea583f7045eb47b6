import { endpoints } from '../app.ts';
import { apiBase } from '../endpoint.ts';
import { accessToken, callAsService } from './identity.ts';
import { publishableKey } from './project.ts';
import { Problem, throwAll } from './result.ts';
import { askApi, check } from './run.ts';

/** Id that no sound has, for calls to a service whose catalogue is still empty. */
const noSound = '00000000-0000-0000-0000-000000000000';

export const reads = check('Reads', [publishableKey, accessToken], async (run) => {
  const problems: Problem[] = [];
  let sound = noSound;
  for (const { path } of endpoints.filter(({ method }) => method === 'get')) {
    const { status, headers, body } = await askApi(run, apiBase + path.replace('{id}', sound), run.token);
    if (path === '/sounds' && status === 200) sound = (body as { data: { id: string }[] }).data[0]?.id ?? noSound;
    if (status === 200 || (status === 404 && path.endsWith('{id}'))) continue; // the sound may have been removed
    const inLog = run.gateway && `, and in the log of the gateway for request ${headers.get('x-request-id')}`;
    problems.push(
      new Problem(
        `GET ${path} answers ${status} to a user.`,
        `First fix the problems of the database above. Otherwise find the error in the dashboard under Logs, Postgres${inLog ?? ''}.`,
      ),
    );
  }
  throwAll(problems);
  return 'Every read succeeds as the temporary account.';
});

export const apiKeys = check('API keys', [accessToken], async (run) => {
  const isAccepted = async () => (await askApi(run, `${apiBase}/me`, String(key))).status === 200;
  const remedy = 'Apply the migrations (npx supabase db push --remote), then look at Logs, Postgres, in the dashboard.';
  const key = await callAsService(run, 'doctor_issue_key', { account: run.account.id });
  if (typeof key !== 'string') throw new Problem('No API key could be issued.', remedy);
  if (!(await isAccepted())) throw new Problem('An API key that was just issued is rejected.', remedy);
  await callAsService(run, 'doctor_revoke_keys', { account: run.account.id });
  if (await isAccepted()) throw new Problem('A revoked API key is still accepted.', remedy);
  return 'One was issued, used and revoked.';
});

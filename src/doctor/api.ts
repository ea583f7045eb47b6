import { endpoints } from '../app.ts';
import { apiBase } from '../endpoint.ts';
import type { Check } from './check.ts';
import { accessToken } from './identity.ts';
import { Problem, throwAll } from './problem.ts';
import { publishableKey } from './project.ts';
import { askApi } from './run.ts';

/** Id without a sound, for an empty catalogue, which is valid. */
const noSound = '00000000-0000-0000-0000-000000000000';

/** Sends every read of the API as the temporary account. */
export const reads: Check = {
  name: 'Reads',
  needs: [publishableKey, accessToken],
  async execute(run) {
    const problems: Problem[] = [];
    let sound = noSound;
    for (const { method, path } of endpoints) {
      if (method !== 'get') continue;
      const { status, headers, body } = await askApi(run, apiBase + path.replace('{id}', sound), run.token);
      if (status === (path.endsWith('{id}') && sound === noSound ? 404 : 200)) {
        if (path === '/sounds') sound = (body as { data: { id: string }[] }).data[0]?.id ?? noSound;
        continue;
      }
      const inLog =
        run.gateway && `; in the log of the gateway the request is ${headers.get('x-request-id')}`;
      problems.push(
        new Problem(
          `GET ${path} answers ${status} to a user.`,
          `First fix what is wrong in the database above. Otherwise Logs, Postgres, in the dashboard has the error${inLog ?? ''}.`,
        ),
      );
    }
    throwAll(problems);
    return 'Every read succeeds as the temporary account.';
  },
};

import { readFileSync } from 'node:fs';
import { Router } from 'express';
import type { Context } from '../context.ts';
import { rejectOtherMethods } from '../http/router.ts';
import { inlinePageHeaders } from '../http/security-headers.ts';
import { createSharedAnswer } from '../http/shared-answer.ts';

/** Path of the page below the API. Its address is registered at stores, so it must not change. */
const path: string = '/account-deletion';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => entities[character] ?? '');

/**
 * Serves the page on which a person deletes the account without the app, as Google Play requires (Data safety, answer
 * 13327111). It names the app by APP_NAME.
 */
export function accountDeletionRouter({ config }: Context): Router {
  const file = readFileSync(`${import.meta.dirname}/account-deletion.html`, 'utf8');
  const html = file.replaceAll('{app}', () => escapeHtml(config.appName ?? 'this app')); // a name may contain "$&"
  const answer = createSharedAnswer(Buffer.from(html), 'html');
  const router = Router({ caseSensitive: true, strict: true });
  router.use(path, inlinePageHeaders(html));
  const page = router.route(path).get((req, res) => {
    res.set('Cache-Control', 'private, no-cache');
    answer.send(req, res);
  });
  rejectOtherMethods(page, ['GET', 'HEAD']);
  // The page has relative addresses, which a slash at the end would change.
  router.get(`${path}/`, (_req, res) => res.redirect(301, `../${path.slice(1)}`));
  return router;
}

import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import compression from 'compression';
import express, { type RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import { jwtVerify } from 'jose';
import { pinoHttp } from 'pino-http';
import { z } from 'zod';
import { loadConfig } from '../../src/config/config.ts';

// The usual way: the same endpoints with the same middleware, each with its defaults, and supabase-js on Node's fetch,
// with one client per request that has the user's token.

const { supabase, secrets, rateLimits, port } = loadConfig(process.env);
const secret = new TextEncoder().encode(secrets.supabaseJwtSecret ?? '');
const auth = { persistSession: false, autoRefreshToken: false };
const admin = createClient(supabase.url, secrets.supabaseSecretKey, { auth });

const authenticate: RequestHandler = async ({ headers: { authorization = '' } }, { locals }, next) => {
  const { payload } = await jwtVerify(authorization.replace('Bearer ', ''), secret);
  locals['userId'] = payload.sub;
  const global = { headers: { Authorization: authorization } };
  locals['supabase'] = createClient(supabase.url, supabase.publishableKey, { auth, global });
  next();
};
const limit = rateLimit({ limit: rateLimits.userPerMinute, keyGenerator: (_req, { locals }) => locals['userId'] });
const app = express();
app.use(pinoHttp(), helmet(), compression(), express.json());
app.use('/api/v1', authenticate, limit);

async function call(client: SupabaseClient, name: string, args: object = {}) {
  const { data, error } = await client.rpc(name, args);
  if (error) throw error;
  return data;
}

interface FoundFile {
  path: string;
}
interface FoundFiles {
  id: string;
  audio: FoundFile;
  cover: FoundFile;
  is_locked: boolean;
}

const ListQuery = z.object({
  category: z.string().max(100).optional(),
  search: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
  sort: z.enum(['newest', 'title', 'popular']).optional(),
  q: z.string().max(100).optional(),
  ids: z.preprocess((ids) => String(ids).split(','), z.array(z.uuid())).optional(),
});
app.get('/api/v1/sounds', async (req, res) => {
  res.json(await call(res.locals['supabase'], 'list_sounds', { filters: ListQuery.parse(req.query) }));
});
app.get('/api/v1/catalogue/changes', async (_req, res) => {
  res.json(await call(res.locals['supabase'], 'list_catalogue_changes', { filters: {} }));
});
app.post('/api/v1/sounds/files', async (req, res) => {
  const { ids } = z.object({ ids: z.array(z.uuid()).max(50) }).parse(req.body);
  const found: FoundFiles[] = await call(res.locals['supabase'], 'list_sound_files', { wanted: { ids } });
  const sign = async (bucket: string, files: FoundFile[]) => {
    const { data } = await admin.storage.from(bucket).createSignedUrls(
      files.map(({ path }) => path),
      300,
    );
    const expires_at = Math.floor(Date.now() / 1000) + 300;
    return files.map(({ path, ...rest }, index) => ({ url: data?.[index]?.signedUrl, expires_at, ...rest }));
  };
  const audioFiles = found.map(({ audio }) => audio);
  const coverFiles = found.map(({ cover }) => cover);
  const [audio, covers] = await Promise.all([sign('audio', audioFiles), sign('covers', coverFiles)]);
  res.json({
    data: found.map(({ id, is_locked }, index) => ({ id, audio: audio[index], cover: covers[index], is_locked })),
  });
});
app.get('/api/v1/home', async (_req, res) => {
  res.json({ sections: await call(res.locals['supabase'], 'list_home_sections') });
});
app.get('/api/v1/categories', async (_req, res) => {
  res.json({ data: await call(res.locals['supabase'], 'list_categories') });
});
app.get('/api/v1/me/customer', async (_req, res) => {
  res.json({ data: await call(res.locals['supabase'], 'get_customer'), auth_via: 'jwt' });
});
app.get('/api/v1/favorites', async (_req, res) => {
  res.json({ data: await call(res.locals['supabase'], 'list_favorites') });
});
app.post('/api/v1/sounds/:id/play', async (req, res) => {
  const { id } = z.object({ id: z.uuid() }).parse(req.params);
  res.json({ data: await call(admin, 'count_play', { sound: id }) });
});
app.listen(port, '127.0.0.1').keepAliveTimeout = 75_000;

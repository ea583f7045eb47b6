import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type RequestHandler } from 'express';
import { isRefreshToken } from '../model/session.ts';

const utf8 = '(x-unicode20|unicode11|unicode20|unicode-1-1-)?utf-?8'; // https://encoding.spec.whatwg.org
const charset = new RegExp(`(?<=charset=)"?${utf8}"?`, 'i');
const wrongCoding = new RegExp(`^\\s*(${utf8})?\\s*$`, 'i');

/** Replaces spellings of charset and coding that the body parser rejects. Ignores a charset that was sent as coding. */
const normalizeEncoding: RequestHandler = ({ headers }, _res, next) => {
  const { 'content-type': type, 'content-encoding': coding } = headers;
  if (type) headers['content-type'] = type.replace(charset, 'utf-8');
  if (coding !== undefined && wrongCoding.test(coding)) delete headers['content-encoding'];
  else if (coding?.trim().toLowerCase() === 'x-gzip') headers['content-encoding'] = 'gzip'; // RFC 9110, 8.4.1.3
  next();
};

/** Rejects text that is not UTF-8, because decoding replaces its bytes, so different passwords would become equal. */
function rejectOtherThanUtf8(_req: IncomingMessage, _res: ServerResponse, bytes: Buffer, charset: string) {
  if (charset === 'utf-8' && !isUtf8(bytes)) throw new Error('The body is not valid UTF-8');
}

/** Parses any JSON, because `strict` would call null and other values invalid JSON. Schemas reject them. */
const parseJson = (limit: string) =>
  express.json({
    limit,
    type: ['application/json', 'application/*+json'],
    verify: rejectOtherThanUtf8,
    strict: false,
  });

/** Passes on the error of a body that was parsed before. */
const passBodyError: RequestHandler = (_req, { locals: { bodyError } }, next) => next(bodyError);

/** Returns the middleware that parses a JSON body. @param limit size limit, such as 32kb */
export const parseBody = (limit = '16kb') => [passBodyError, normalizeEncoding, parseJson(limit)];

const parseRefresh = parseJson('16kb');

/**
 * Parses the body of a refresh before the limits, because tokens that Auth cannot have issued count as other requests:
 * otherwise anyone could stop the refreshes of all devices behind an address.
 */
export const readRefreshToken: RequestHandler[] = [
  normalizeEncoding,
  (req, res, next) => {
    parseRefresh(req, res, (error?: unknown) => {
      res.locals.bodyError = error;
      res.locals.hasRefreshToken = isRefreshToken(req.body?.refresh_token);
      next();
    });
  },
];

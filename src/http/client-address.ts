import { isIP } from 'node:net';
import type { Request } from 'express';

/**
 * The IP address of the client, as far as trusted proxies tell it. Some of them (Azure's, IIS) name its port as well, which
 * is another one for each connection. Where they tell no address, it is that of the connection.
 */
export function clientAddress({ ip = '', socket }: Request): string {
  const address = isIP(ip) ? ip : ip.replace(/^\[?(.*?)\]?(:\d+)?$/, '$1');
  return isIP(address) ? address : (socket.remoteAddress ?? '');
}

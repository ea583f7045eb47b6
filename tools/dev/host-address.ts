import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv4 } from 'node:net';

const ONLY_HERE = ['0.0.0.0', '127.0.0.1'];

/**
 * The IPv4 address of this machine that others in its network reach.
 * @param wanted the address, or "auto"
 * @throws an Error of one sentence when it is none of this machine, or there is none to be found
 */
export async function hostAddress(wanted: string): Promise<string> {
  if (wanted === 'auto') return ownAddress();
  if (isIPv4(wanted) && !ONLY_HERE.includes(wanted) && (await isOurs(wanted))) return wanted;
  throw new Error(
    `--host takes an IPv4 address of this machine in its network, such as 192.168.1.20, or auto; ${wanted} is none.`,
  );
}

async function ownAddress(): Promise<string> {
  const socket = createSocket('udp4');
  try {
    // Connecting chooses the way and sends nothing. The address is one of documentation (RFC 5737).
    socket.connect(9, '192.0.2.1');
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    throw new Error('This machine seems to be in no network: name one of its addresses after --host.');
  } finally {
    socket.close();
  }
}

/** Whether this machine can listen there. */
function isOurs(address: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(0, address, () => server.close(() => resolve(true)));
  });
}

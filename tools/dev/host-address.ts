import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv4 } from 'node:net';

const localAddresses = ['0.0.0.0', '127.0.0.1'];

/**
 * Returns the IPv4 address of this machine in its network.
 * @param wanted the address, or "auto"
 * @throws an Error if this machine does not have the address, or has none
 */
export async function hostAddress(wanted: string): Promise<string> {
  if (wanted === 'auto') return ownAddress();
  if (isIPv4(wanted) && !localAddresses.includes(wanted) && (await isOurs(wanted))) return wanted;
  throw new Error(
    `${wanted} is not an address of this machine. Set --host to its IPv4 address in the network, such as 192.168.1.20, or to auto.`,
  );
}

async function ownAddress(): Promise<string> {
  const socket = createSocket('udp4');
  try {
    // Connecting a UDP socket selects the interface and sends nothing. The address is for documentation (RFC 5737).
    socket.connect(9, '192.0.2.1');
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    throw new Error('This machine is in no network. Give one of its addresses: --host 192.168.1.20');
  } finally {
    socket.close();
  }
}

/** Tells whether this machine can listen at an address. */
function isOurs(address: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(0, address, () => server.close(() => resolve(true)));
  });
}

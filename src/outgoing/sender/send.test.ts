/** Outgoing requests reach checked addresses only, and end in time whatever the receiver does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { localUrls } from '../../../test/support/local_urls.ts';
import { isListed, isPublicAddress } from '../../platform/addresses/allowed_addresses.ts';
import { type Lookup, makeCachedLookup } from '../../platform/addresses/cached_lookup.ts';
import type { AddressRules } from '../../platform/addresses/checked_request.ts';
import { makeOwnAddresses, maxInterfacesAge } from '../../platform/addresses/own_addresses.ts';
import { type Outcome, sendRequest } from './send.ts';

let receiver: HookReceiver;
before(async () => void (receiver = await startHookReceiver()));
after(async () => await receiver.close());

const strict: AddressRules = { isLocalAllowed: false, allowedHosts: [] };
const open: AddressRules = { isLocalAllowed: true, allowedHosts: [] };
const limits = { milliseconds: 60_000, maxBytes: 100_000, keptBytes: 100 };

const send = async (
  url: string,
  rules: AddressRules,
  lookup?: Lookup,
  milliseconds = limits.milliseconds,
): Promise<Outcome> =>
  await sendRequest({ url, headers: {}, body: '{}', verifiesCertificate: true }, rules, {
    limits: { ...limits, milliseconds },
    ...(lookup !== undefined && { lookup }),
  });

const sendInTime = async (): Promise<Outcome> => await send(receiver.url, open, undefined, 300);

const refusal = 'requests to the local network are not allowed';

const ownAddress = 'this is an address of this machine; list it in outbound_local_requests_whitelist';

describe('addresses', () => {
  const local =
    `127.0.0.1 127.9.9.9 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1
    100.127.255.255 192.0.0.1 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1
    ::127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: 2001::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1
    2001:db8::1 not-an-address`.split(/\s+/);
  for (const address of local)
    it(`${address} is not public`, () => assert.equal(isPublicAddress(address), false));
  for (const address of ['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1', '::ffff:1.1.1.1'])
    it(`${address} is public`, () => assert.equal(isPublicAddress(address), true));

  it('are listed by name, port, address and subnet', () => {
    const at = { host: 'ci.example', port: '80', address: '10.1.2.3' };
    for (const entry of ['ci.example', 'CI.example:80', '10.1.2.3', '10.1.0.0/16'])
      assert.equal(isListed([entry], at), true, entry);
    for (const entry of ['example', 'ci.example:81', '10.2.0.0/16', '10.1.0.0/x', ''])
      assert.equal(isListed([entry], at), false, entry);
  });
});

describe('a request', () => {
  it('is refused where the host is local, by whatever name', async () => {
    const { port } = new URL(receiver.url);
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost'])
      assert.equal((await send(`http://${host}:${port}/`, strict)).error, refusal, host);
    assert.equal(receiver.received.length, 0);
  });

  for (const url of localUrls)
    it(`is refused to ${url}`, async () => {
      const resolved: Lookup = async (host) => [
        { address: host.includes('localhost') ? '::1' : host, family: 4 },
      ];
      assert.equal((await send(url, strict, resolved)).error, refusal);
    });

  it('is refused to an address of an interface of this machine, unless it is listed', async () => {
    let now = 0;
    let address = '127.0.0.1';
    const isOwn = makeOwnAddresses(
      () => ({
        lo: undefined,
        eth0: [{ address }, { address: '2606:4700::1' }, { address: 'fe80::1%eth0' }],
      }),
      () => now,
    );
    const rules = { ...strict, isOwn };
    address = '1.1.1.1';
    const named: Lookup = async () => [{ address: '1.1.1.1', family: 4 }];
    for (const host of ['1.1.1.1', '[::ffff:1.1.1.1]', '[2606:4700:0:0::1]', '16843009', 'gantry.example'])
      assert.equal((await send(`http://${host}/`, rules, named)).error, ownAddress, host);
    assert.equal(isOwn('8.8.8.8'), false);
    address = '8.8.8.8';
    assert.equal(isOwn('8.8.8.8'), false, 'remembered');
    now += maxInterfacesAge;
    assert.deepEqual([isOwn('8.8.8.8'), isOwn('1.1.1.1')], [true, false]);
    const listed = { ...rules, isOwn: () => true, allowedHosts: ['127.0.0.1'] };
    assert.equal((await send(receiver.url, listed)).status, 200);
  });

  it('is refused to a name of the metadata of a cloud', async () => {
    const metadata: Lookup = async () => [{ address: '169.254.169.254', family: 4 }];
    assert.equal((await send('http://metadata.google.internal/', strict, metadata)).error, refusal);
  });

  it('is refused if any address of the host is local', async () => {
    const both: Lookup = async () => [
      { address: '1.1.1.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    assert.equal((await send('http://two.example/', strict, both)).error, refusal);
  });

  it('resolves once, and connects to the address that was checked', async () => {
    let lookups = 0;
    const rebinding: Lookup = async () => {
      lookups += 1;
      return [{ address: lookups === 1 ? '127.0.0.1' : '192.0.2.1', family: 4 }];
    };
    const { port } = new URL(receiver.url);
    const { status } = await send(`http://rebinding.example:${port}/`, open, rebinding);
    assert.deepEqual([status, lookups], [200, 1]);
  });

  it('a request is refused to addresses that an earlier request looked up and was allowed to reach', async () => {
    let lookups = 0;
    const cached = makeCachedLookup(async () => {
      lookups += 1;
      return [{ address: '127.0.0.1', family: 4 }];
    });
    const url = `http://cached.example:${new URL(receiver.url).port}/`;
    assert.equal((await send(url, open, cached)).status, 200);
    assert.equal((await send(url, strict, cached)).error, refusal);
    assert.equal(lookups, 1);
  });

  it('a request reaches a host that the settings allow', async () => {
    const rules = { isLocalAllowed: false, allowedHosts: ['127.0.0.1'] };
    assert.equal((await send(receiver.url, rules)).status, 200);
  });

  it('sends path, query and credentials of the URL', async () => {
    receiver.clear();
    const url = new URL('/a%20b?c=d%26e#f', receiver.url);
    Object.assign(url, { username: 'us er', password: 'p:w' });
    assert.equal((await send(url.href, open)).status, 200);
    const [{ path, headers }] = receiver.received as [(typeof receiver.received)[0]];
    assert.deepEqual([path, headers['host']], ['/a%20b?c=d%26e', url.host]);
    const [, sent = ''] = headers['authorization']?.split(' ') ?? [];
    assert.equal(Buffer.from(sent, 'base64').toString(), 'us er:p:w');
  });

  it('reports an answer that ends too early', async () => {
    receiver.answer((_one, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('x', () => response.destroy());
    });
    const { status, error } = await send(receiver.url, open);
    assert.deepEqual([status, error], [200, 'ECONNRESET']);
    receiver.clear();
  });

  it('a request does not follow redirects', async () => {
    receiver.clear();
    receiver.answer((_one, response) => void response.writeHead(302, { location: receiver.url }).end());
    assert.equal((await send(receiver.url, open)).status, 302);
    assert.equal(receiver.received.length, 1);
  });

  it('ends in time where the receiver hangs before or within its answer', async () => {
    receiver.answer(() => undefined);
    assert.equal((await sendInTime()).error, 'timeout');
    receiver.answer((_one, response) => void response.writeHead(200).write('x'));
    assert.equal((await sendInTime()).error, 'timeout');
  });

  it('reads a bounded part of an endless answer', async () => {
    receiver.answer((_one, response) => {
      response.on('error', () => undefined);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    });
    const { status, body, error } = await send(receiver.url, open);
    assert.deepEqual([status, body.length, error], [200, 100, null]);
  });

  it('a failed request reports what failed', async () => {
    receiver.answer((_one, response) => void response.destroy());
    assert.equal((await send(receiver.url, open)).error, 'ECONNRESET');
    const failing: Lookup = async () =>
      await Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    assert.equal((await send('http://no.example/', open, failing)).error, 'ENOTFOUND');
  });
});

describe('an open connection', () => {
  /** Answers requests, except where `isDropped`, and notes the connection of each. */
  const startServer = async (isDropped: (at: number) => boolean = () => false) => {
    const sockets: Socket[] = [];
    const server = createServer((request, response) => {
      sockets.push(request.socket);
      request.resume();
      if (isDropped(sockets.length)) request.socket.destroy();
      else response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const close = async (): Promise<void> => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    };
    return { sockets, url: `http://kept.example:${port}/`, close };
  };
  const addressed =
    (...addresses: string[]): Lookup =>
    async () =>
      addresses.map((address) => ({ address, family: 4 }));

  it('is used again only while the same addresses are checked', async () => {
    const { sockets, url, close } = await startServer();
    const first = addressed('127.0.0.1');
    for (const lookup of [first, first, addressed('127.0.0.1', '192.0.2.1'), first])
      assert.equal((await send(url, open, lookup)).status, 200);
    const [one, two, other, last] = sockets;
    assert.deepEqual([one === two, one === other, one === last], [true, false, true]);
    assert.equal((await send(url, strict, first)).error, refusal);
    assert.equal(sockets.length, 4);
    await close();
  });

  it('that the receiver closed is replaced, and the request is sent again', async () => {
    const { sockets, url, close } = await startServer((at) => at === 2);
    const lookup = addressed('127.0.0.1');
    assert.equal((await send(url, open, lookup)).status, 200);
    assert.equal((await send(url, open, lookup)).status, 200);
    assert.equal(sockets.length, 3);
    assert.notEqual(sockets[1], sockets[2]);
    await close();
  });
});

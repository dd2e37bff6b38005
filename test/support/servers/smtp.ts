/** A real SMTP server on a free port, which keeps what it receives. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

export type ReceivedMail = {
  /** Recipients of the envelope. */
  to: string[];
  /** Header lines as they were sent, unfolded, by lower-case name. */
  header: (name: string) => string | undefined;
  /** How often a header occurs. */
  count: (name: string) => number;
  subject: string;
  text: string;
  html: string;
  parsed: ParsedMail;
};

export type TestSmtp = {
  /** For `GANTRY_SMTP_URL`. */
  url: string;
  received: ReceivedMail[];
  /** Users and passwords of connections. */
  signIns: [string, string][];
  /** Refuses the next messages with this code, until `null`. */
  refuse: (code: number | null) => void;
  clear: () => void;
  close: () => Promise<void>;
};

const read = async (raw: Buffer, session: SMTPServerSession): Promise<ReceivedMail> => {
  const parsed = await simpleParser(raw);
  const head = raw.toString('latin1').split('\r\n\r\n')[0] ?? '';
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const named = (name: string) => lines.filter((line) => line.toLowerCase().startsWith(`${name}:`));
  return {
    to: session.envelope.rcptTo.map(({ address }) => address),
    header: (name) =>
      named(name)[0]
        ?.slice(name.length + 1)
        .trim(),
    count: (name) => named(name).length,
    subject: parsed.subject ?? '',
    text: parsed.text ?? '',
    html: parsed.html === false ? '' : (parsed.html ?? ''),
    parsed,
  };
};

/** @param login the user and password that clients must present; absent: none */
export const startSmtp = async (
  login: { user: string; password: string } | null = null,
  port = 0,
): Promise<TestSmtp> => {
  const received: ReceivedMail[] = [];
  const signIns: [string, string][] = [];
  let code: number | null = null;
  const refusal = (): Error | null =>
    code === null ? null : Object.assign(new Error('refused by the test'), { responseCode: code });
  const server = new SMTPServer({
    authOptional: login === null,
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) => {
      signIns.push([username ?? '', password ?? '']);
      const isRight = login !== null && username === login.user && password === login.password;
      done(isRight ? null : new Error('wrong'), { user: username ?? '' });
    },
    onRcptTo: (_address, _session, done) => done(refusal()),
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        void read(Buffer.concat(parts), session).then((mail) => {
          received.push(mail);
          done(null);
        });
      });
    },
  });
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  const { port: bound } = listening.address() as AddressInfo;
  const credentials = login === null ? '' : `${login.user}:${encodeURIComponent(login.password)}@`;
  return {
    url: `smtp://${credentials}127.0.0.1:${bound}`,
    received,
    signIns,
    refuse: (next) => void (code = next),
    clear: () => void received.splice(0),
    close: async () => await new Promise<void>((resolve) => server.close(() => resolve())),
  };
};

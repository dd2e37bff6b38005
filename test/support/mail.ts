/** A service that sends mail to a real SMTP server, and what it received. */
import { type ReceivedMail, type TestSmtp, startSmtp } from './servers/smtp.ts';
import { type TestService, startTestService } from './service.ts';

export type MailingService = TestService & {
  smtp: TestSmtp;
  /** Finishes the background work and returns the mails to a user since the last `clear`. */
  mailsTo: (user: { username: string }) => Promise<ReceivedMail[]>;
};

export const startMailingService = async (
  environment: Record<string, string> = {},
): Promise<MailingService> => {
  const smtp = await startSmtp();
  const gantry = await startTestService({
    GANTRY_SMTP_URL: smtp.url,
    GANTRY_MAIL_FROM: 'Gantry <gantry@example.com>',
    ...environment,
  });
  return {
    ...gantry,
    smtp,
    mailsTo: async ({ username }) => {
      await gantry.service.worker.drain();
      return smtp.received.filter(({ to }) => to.includes(`${username}@example.com`));
    },
    close: async () => {
      await gantry.close();
      await smtp.close();
    },
  };
};

/** What a person is told when something went wrong. */
import { type Html, html } from './html.ts';
import { plainLayout } from './layout.ts';

export type Wrong = {
  status: number;
  /** What the failure says itself, where it is meant for people. */
  reason: string | null;
  requestId: string;
};

type Text = { title: string; text: string };

const texts: Record<number, Text> = {
  403: { title: 'Not allowed', text: 'You may not do this. Ask an owner or an administrator for access.' },
  404: {
    title: 'Not found',
    text: 'There is no such page, or you may not see it. Check the address, or sign in.',
  },
  405: { title: 'Not possible', text: 'This address does not take such a request.' },
  413: { title: 'Too large', text: 'What you sent is too large.' },
  422: {
    title: 'The form was not taken',
    text: 'It has expired, or was not sent from our page. Nothing was changed. Go back, load the page anew and send it again.',
  },
  429: { title: 'Too many tries', text: 'Wait a moment, then try again.' },
  500: { title: 'Something went wrong', text: 'This is our fault. What you did may not have been saved.' },
  503: { title: 'Not available', text: 'The service cannot answer at the moment. Try again soon.' },
};

const unknown: Text = { title: 'That did not work', text: 'The request could not be read.' };

const reference = ({ status, requestId }: Wrong): Html | null =>
  status < 500
    ? null
    : html`<p>If it happens again, tell your administrator this number: <code>${requestId}</code></p>`;

export const errorPage = (wrong: Wrong): string => {
  const { title, text } = texts[wrong.status] ?? unknown;
  const body = html`<h1>${title}</h1>
<p>${wrong.reason ?? text}</p>
${reference(wrong)}
<p><a href="/">To the start page</a> · <a href="/users/sign_in">Sign in</a></p>`;
  return plainLayout({ title, body });
};

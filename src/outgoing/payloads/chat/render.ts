/** Renders messages in the format of chat webhooks. Texts of users are escaped. Pure. */
import type { HookFormat } from '../../hooks/event_flags.ts';
import type { Message, Part } from './describe.ts';

/** Slack, Mattermost and Rocket.Chat read `&`, `<` and `>`; escaped, no text can mention a channel or person. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns the percent-encoded UTF-8 of a character, also of one that `encodeURIComponent` leaves. */
const percentEncode = (character: string): string =>
  Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '%$&');

/** Encodes what would end the link. */
const escapeUrl = (url: string): string => url.replaceAll(/[<>|()\s]/g, percentEncode);

const slackPart = (part: Part): string =>
  typeof part === 'string'
    ? escapeSlack(part)
    : `<${escapeUrl(part.url)}|${escapeSlack(part.text).replaceAll('|', '¦')}>`;

const colors = { good: '#1a7f37', bad: '#cf222e', neutral: '#57606a' } as const;

const renderSlack = ({ title, lines, mood }: Message): object => {
  const text = title.map(slackPart).join('');
  const details = lines.map((parts) => parts.map(slackPart).join('')).join('\n');
  return {
    text,
    ...(details !== '' && { attachments: [{ color: colors[mood], text: details, fallback: details }] }),
  };
};

/** Adaptive Cards interpret some Markdown. */
const escapeMarkdown = (text: string): string => text.replaceAll(/[\\`*_[\]()#+\-!<>~|]/g, String.raw`\$&`);

const markdownPart = (part: Part): string =>
  typeof part === 'string' ? escapeMarkdown(part) : `[${escapeMarkdown(part.text)}](${escapeUrl(part.url)})`;

const cardColors = { good: 'Good', bad: 'Attention', neutral: 'Default' } as const;

const textBlock = (parts: Part[], more: object = {}): object => ({
  type: 'TextBlock',
  text: parts.map(markdownPart).join(''),
  wrap: true,
  ...more,
});

const renderTeams = ({ title, lines, mood }: Message): object => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: [
          textBlock(title, { weight: 'Bolder', color: cardColors[mood] }),
          ...lines.map((parts) => textBlock(parts, { isSubtle: true, spacing: 'Small' })),
        ],
      },
    },
  ],
});

/** Returns the webhook's request body. */
export const renderMessage = (format: Exclude<HookFormat, 'json'>, message: Message): string =>
  JSON.stringify(format === 'slack' ? renderSlack(message) : renderTeams(message));

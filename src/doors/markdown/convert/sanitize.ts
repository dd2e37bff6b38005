import sanitizeHtml from 'sanitize-html';

const tags =
  'a abbr b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 ' +
  'h5 h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary ' +
  'sup table tbody td tfoot th thead time tr tt u ul var wbr';

/** Deeper elements lose their tags and keep their text. */
const nestingLimit = 150;

const cell = ['align', 'colspan', 'rowspan'];

/**
 * Classes that our own renderer writes. Markup of a text may use only these, so that it can neither imitate other parts
 * of a page nor trigger its script.
 */
const classes: Record<string, (string | RegExp)[]> = {
  code: [/^language-[\w.+#-]{1,50}$/, 'math'],
  div: [/^markdown-alert(?:-(?:note|tip|important|warning|caution))?$/],
  p: ['markdown-alert-title'],
  ins: ['idiff'],
  del: ['idiff'],
  span: [/^hljs-[\w-]{1,50}$/, /^(?:language-)?[a-z]+_$/],
  li: ['task-list-item', 'footnote-item'],
  ul: ['task-list', 'section-nav'],
  ol: ['task-list', 'footnotes-list'],
  section: ['footnotes'],
  sup: ['footnote-ref'],
  a: ['footnote-backref'],
};

const options: Parameters<typeof sanitizeHtml>[1] = {
  allowedTags: tags.split(' '),
  allowedAttributes: {
    '*': ['id', 'title', 'lang', 'dir'],
    a: ['href', 'name'],
    img: ['src', 'alt', 'width', 'height', 'align'],
    // Removed again.
    code: ['data-math'],
    // Removed again unless it carries the nonce of the conversion.
    input: ['data-task'],
    ol: ['start', 'reversed'],
    li: ['value'],
    details: ['open'],
    td: cell,
    th: [...cell, 'scope'],
    time: ['datetime'],
    ...Object.fromEntries(
      ['div', 'p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table'].map((tag) => [tag, ['align']]),
    ),
  },
  allowedClasses: classes,
  allowedSchemes: ['http', 'https', 'mailto', 'tel', 'ftp', 'irc', 'ircs', 'xmpp'],
  allowedSchemesAppliedToAttributes: ['href', 'src'],
  allowProtocolRelative: true,
  disallowedTagsMode: 'discard',
  nonTextTags: [
    'script',
    'style',
    'textarea',
    'option',
    'xmp',
    'noscript',
    'noembed',
    'noframes',
    'template',
    'title',
  ],
  nestingLimit,
  parseStyleAttributes: false,
};

/** Removes every tag, attribute, class and address that is not on the list. */
export const sanitize = (html: string): string => sanitizeHtml(html, options);

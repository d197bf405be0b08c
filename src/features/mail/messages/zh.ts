/** 简体中文邮件。占位符的含义见 en.ts。 */
import type { MailMessages } from './en.ts';

const NOT_YOU = '如果是您本人操作，无需处理。如果不是，请立即打开您的账号，修改密码，并结束您不认识的会话。';

export const mailZh: MailMessages = {
  common: {
    account: '账号',
    time: '时间',
    browser: '浏览器',
    address: '网络地址',
    byHand: '如果按钮无法使用，请打开此地址：',
    sender: '此邮件由 {service} 自动发送，回复无人阅读。',
    support: '帮助',
  },
  kinds: {
    invitation: {
      subject: '您在 {service} 的账号',
      heading: '欢迎使用 {service}',
      paragraphs: ['已为您创建账号。请设置密码以开始使用。', '链接只能使用一次，七天内有效。'],
      action: '设置密码',
      closing: '如果您不知道这是什么，请忽略此邮件。',
    },
    activation: {
      subject: '激活您在 {service} 的账号',
      heading: '您的账号已激活',
      paragraphs: ['设置密码后即可登录 {service}。', '链接只能使用一次，七天内有效。'],
      action: '设置密码',
      closing: '如果您不知道这是什么，请忽略此邮件。',
    },
    'password-reset': {
      subject: '为 {service} 设置新密码',
      heading: '设置新密码',
      paragraphs: ['您可以通过此链接设置新密码。', '链接只能使用一次，一小时内有效。'],
      action: '设置新密码',
      closing: '如果这不是您的请求，请忽略此邮件：没有此链接，任何人都无法为您的账号设置密码。',
    },
    'password-elsewhere': {
      subject: '您登录 {service} 不需要密码',
      heading: '您的账号在这里没有密码',
      paragraphs: ['有人请求了新密码。您的账号没有密码：您通过 {provider} 登录。'],
      closing: '如果您无法在那里登录，请向 {provider} 求助。如果您没有请求密码，请忽略此邮件。',
    },
    'email-verification': {
      subject: '确认您用于 {service} 的邮箱地址',
      heading: '这是您的邮箱地址吗？',
      paragraphs: ['请确认 {address} 属于您。', '链接只能使用一次，一天内有效。'],
      action: '确认地址',
      closing: '如果该账号不是您的，请不要打开链接，并忽略此邮件。',
    },
    'new-sign-in': {
      subject: '{service} 有新的登录',
      heading: '您的账号在新的浏览器中登录',
      paragraphs: ['有人使用此前未用过的浏览器登录了您的账号。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    'password-changed': {
      subject: '您在 {service} 的密码已更改',
      heading: '您的密码已更改',
      paragraphs: ['从现在起只有新密码有效。您已在所有地方退出登录。'],
      action: '不是我操作的：设置新密码',
      closing: '如果是您或管理员更改的，无需处理。',
    },
    'factor-added': {
      subject: '{service} 已添加第二重验证',
      heading: '您的账号添加了第二重验证',
      paragraphs: ['现在可以用新添加的身份验证器应用或通行密钥登录您的账号。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    'factor-removed': {
      subject: '{service} 已移除第二重验证',
      heading: '您的账号移除了第二重验证',
      paragraphs: ['一个身份验证器应用或通行密钥不再能用于登录您的账号。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    'recovery-codes-replaced': {
      subject: '{service} 的新恢复代码',
      heading: '您的恢复代码已更换',
      paragraphs: ['您之前的恢复代码已失效。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    'account-linked': {
      subject: '您在 {service} 的账号已关联',
      heading: '您的账号已与 {provider} 关联',
      paragraphs: ['从现在起可以用您在 {provider} 的账号登录。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    'account-unlinked': {
      subject: '您在 {service} 的账号已取消关联',
      heading: '您的账号已与 {provider} 取消关联',
      paragraphs: ['不能再用您在 {provider} 的账号登录。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    'data-downloaded': {
      subject: '您在 {service} 的数据已被下载',
      heading: '您账户的数据已被下载',
      paragraphs: ['有人下载了一个文件，其中包含本服务保存的有关您的全部数据。文件中没有密码。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    'email-changed': {
      subject: '您在 {service} 的邮箱地址已更改',
      heading: '您的邮箱地址已更改',
      paragraphs: ['您的账号现在使用地址 {address}。这是发往旧地址的最后一封邮件。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    'email-removed': {
      subject: '您在 {service} 的邮箱地址已移除',
      heading: '您的邮箱地址已移除',
      paragraphs: ['您的账号不再有邮箱地址。这是发往此地址的最后一封邮件。'],
      action: '打开您的账号',
      closing: NOT_YOU,
    },
    test: {
      subject: '来自 {service} 的测试邮件',
      heading: '您能收到 {service} 的邮件',
      paragraphs: ['有人用您的账号在管理控制台中请求了这封邮件。您能读到它，说明邮件可以送达。'],
      closing: '如果不是您本人，说明有人在使用您的账号：请更改密码。',
    },
  },
};

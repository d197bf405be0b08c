/**
 * Rules across the settings of an external identity provider: defaults, contradictions, and changes that would confuse users' identities. Single
 * fields are checked in features/identity-providers/identity-provider-settings.service.ts.
 */
export const IDENTITY_PROVIDER_TYPES = ['OIDC', 'GOOGLE', 'GITHUB', 'MICROSOFT'] as const;
export type IdentityProviderType = (typeof IDENTITY_PROVIDER_TYPES)[number];

interface Address {
  readonly url: string;
}
type EndpointName = 'authorization' | 'token' | 'userInfo' | 'jwks';

/** Protocol settings of the provider, with API names as stored. The client secret is stored separately. */
export interface Protocol {
  readonly type: 'OIDC' | 'OAUTH2';
  /** OIDC: the expected `iss` (OpenID Connect Core 1.0 section 2) and the base of discovery. */
  readonly issuer?: Address | undefined;
  /** Absent: from the issuer's discovery document. OAUTH2 has no such document. */
  readonly endpoints?: { readonly [K in EndpointName]?: Address | undefined } | undefined;
  readonly scopes: readonly string[];
  readonly credentials: {
    readonly client: {
      readonly client_id: string;
      readonly token_endpoint_auth_method: 'client_secret_basic' | 'client_secret_post' | 'none';
    };
  };
  readonly settings: {
    /** Sent with every authorization request, in addition to the parameters of the sign-in; e.g. Google's `hd`. */
    readonly authorizationParameters: Readonly<Record<string, string>>;
  };
}

/**
 * Presets for each kind of identity provider: addresses, scopes, and the mapping of claims to user attributes. OpenID providers need only the issuer,
 * the rest comes from discovery (OpenID Connect Discovery 1.0). GitHub has no discovery document, so its addresses are here.
 */
type Preset = Pick<Protocol, 'type' | 'issuer' | 'endpoints' | 'scopes'> & {
  /** Claim for each attribute of the profile. */
  readonly attributeMap: Readonly<Record<string, string>>;
};

const OIDC: Preset = {
  type: 'OIDC',
  scopes: ['openid', 'email', 'profile'],
  attributeMap: { email: 'email', firstName: 'given_name', lastName: 'family_name', displayName: 'name' },
};

const PRESETS: Readonly<Record<IdentityProviderType, Preset>> = {
  OIDC,
  GOOGLE: { ...OIDC, issuer: { url: 'https://accounts.google.com' } },
  /** Accounts of every tenant, and personal accounts. An issuer with a tenant's ID instead of `common` allows only that tenant. */
  MICROSOFT: { ...OIDC, issuer: { url: 'https://login.microsoftonline.com/common/v2.0' } },
  /**
   * "Authorizing OAuth apps" of GitHub's documentation. `user:email` gives access to the list of e-mail addresses, including whether each is
   * verified.
   */
  GITHUB: {
    type: 'OAUTH2',
    endpoints: {
      authorization: { url: 'https://github.com/login/oauth/authorize' },
      token: { url: 'https://github.com/login/oauth/access_token' },
      userInfo: { url: 'https://api.github.com/user' },
    },
    scopes: ['read:user', 'user:email'],
    attributeMap: { email: 'email', displayName: 'name', nickName: 'login', profileUrl: 'html_url' },
  },
};

type Action = 'AUTO' | 'DISABLED';

/** Account policy for users of the provider, with API names as stored. */
export interface IdentityProviderPolicy {
  /** Are unknown users created? */
  readonly provisioning: {
    readonly action: Action;
    /** The organization that new users become members of. */
    readonly orgId?: string | undefined;
    /** ASSIGN: the groups that new users become members of. */
    readonly groups: { readonly action: 'NONE' | 'ASSIGN'; readonly assignments: readonly string[] };
    /** Does every later sign-in update the mapped attributes? */
    readonly profileMaster: boolean;
  };
  /** Are users linked automatically by an e-mail address that the provider has verified? */
  readonly accountLink: {
    readonly action: Action;
    /** Limits linking to members of one of these groups. */
    readonly filter?: { readonly groups: { readonly include: readonly string[] } } | undefined;
  };
  readonly subject: {
    /** User name of a new user: `idpuser.` and the name of a claim. */
    readonly userNameTemplate: { readonly template: string };
    /** User attribute to compare with the verified e-mail address when linking an account. */
    readonly matchType: 'USERNAME' | 'EMAIL' | 'USERNAME_OR_EMAIL';
    /** Domains for whose addresses the provider is trusted; absent: all. */
    readonly emailDomains?: readonly string[] | undefined;
  };
  /** Claim for each attribute of the user's profile. */
  readonly attributeMap: Readonly<Record<string, string>>;
  /** Absent: its assertions are not accepted. */
  readonly trust?: {
    /** Are its JWTs about linked users accepted at the token endpoint (RFC 8693, RFC 7523)? */
    readonly assertions: boolean;
  };
  /** Tolerance for the provider's clock in milliseconds. */
  readonly maxClockSkew: number;
}

export interface IdentityProviderSettings {
  readonly type: IdentityProviderType;
  readonly protocol: Protocol;
  readonly policy: IdentityProviderPolicy;
}

type Given<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? string extends keyof T
      ? Readonly<Record<string, string | undefined>>
      : { readonly [K in keyof T]?: Given<T[K]> | undefined }
    : T;

/** Settings as given by the administrator; most are optional. */
export interface GivenIdentityProvider {
  readonly type: IdentityProviderType;
  readonly protocol: Given<Omit<Protocol, 'credentials' | 'issuer' | 'endpoints'>> &
    Pick<Protocol, 'issuer' | 'endpoints'> & {
      readonly credentials: {
        readonly client: Pick<Protocol['credentials']['client'], 'client_id'> & Given<Protocol['credentials']['client']>;
      };
    };
  readonly policy?: Given<IdentityProviderPolicy> | undefined;
}

const CLOCK_SKEW = 60_000;
export const DEFAULT_USER_NAME = 'idpuser.email';

/** Adds the defaults for the provider type. Endpoints of a custom issuer are discovered. */
export function completeIdentityProvider({ type, protocol, policy = {} }: GivenIdentityProvider): IdentityProviderSettings {
  const preset = PRESETS[type];
  const { client_id, token_endpoint_auth_method } = protocol.credentials.client;
  const { provisioning, accountLink, subject } = policy;
  return {
    type,
    protocol: {
      type: protocol.type ?? preset.type,
      issuer: protocol.issuer ?? preset.issuer,
      endpoints: protocol.endpoints ?? preset.endpoints,
      scopes: [...new Set(protocol.scopes ?? preset.scopes)],
      credentials: { client: { client_id, token_endpoint_auth_method: token_endpoint_auth_method ?? 'client_secret_basic' } },
      settings: { authorizationParameters: withoutUndefined(protocol.settings?.authorizationParameters ?? {}) },
    },
    policy: {
      provisioning: {
        action: provisioning?.action ?? 'DISABLED',
        orgId: provisioning?.orgId,
        groups: { action: provisioning?.groups?.action ?? 'NONE', assignments: [...new Set(provisioning?.groups?.assignments)] },
        profileMaster: provisioning?.profileMaster ?? false,
      },
      accountLink: {
        action: accountLink?.action ?? 'DISABLED',
        filter: accountLink?.filter && { groups: { include: [...new Set(accountLink.filter.groups?.include)] } },
      },
      subject: {
        userNameTemplate: { template: subject?.userNameTemplate?.template ?? DEFAULT_USER_NAME },
        matchType: subject?.matchType ?? 'EMAIL',
        emailDomains: subject?.emailDomains && [...new Set(subject.emailDomains)],
      },
      attributeMap: withoutUndefined(policy.attributeMap ?? preset.attributeMap),
      trust: { assertions: policy.trust?.assertions ?? false },
      maxClockSkew: policy.maxClockSkew ?? CLOCK_SKEW,
    },
  };
}

export interface IdentityProviderProblem {
  /** Path of the field in the API. */
  readonly field: string;
  readonly message: string;
}

/** @returns all contradictions; none: the settings are valid */
export function identityProviderProblems({ type, protocol, policy }: IdentityProviderSettings): IdentityProviderProblem[] {
  const problems: IdentityProviderProblem[] = [];
  const unless = (right: boolean, field: string, message: string) => {
    if (!right) problems.push({ field, message });
  };
  const { groups } = policy.provisioning;
  const expected = PRESETS[type].type;
  unless(protocol.type === expected, 'protocol.type', `must be ${expected} with type ${type}`);
  if (expected === 'OIDC') {
    unless(protocol.issuer !== undefined, 'protocol.issuer', `is required with type ${type}`);
    unless(protocol.scopes.includes('openid'), 'protocol.scopes', 'must include openid');
  } else {
    unless(protocol.issuer === undefined, 'protocol.issuer', `cannot be used with type ${type}`);
    unless(protocol.endpoints?.jwks === undefined, 'protocol.endpoints.jwks', `cannot be used with type ${type}`);
  }
  if (protocol.endpoints !== undefined) {
    for (const name of ENDPOINTS[expected]) {
      unless(protocol.endpoints[name] !== undefined, `protocol.endpoints.${name}`, 'is required if endpoints is set');
    }
  }
  unless(policy.trust?.assertions !== true || type === 'OIDC', 'policy.trust.assertions', 'must be false unless type is OIDC');
  unless(
    (groups.action === 'ASSIGN') === groups.assignments.length > 0,
    'policy.provisioning.groups.assignments',
    groups.action === 'ASSIGN' ? 'is required with action ASSIGN' : 'cannot be used with action NONE',
  );
  return problems;
}

/** Endpoints required for a sign-in. */
const ENDPOINTS = {
  OIDC: ['authorization', 'token', 'jwks'],
  OAUTH2: ['authorization', 'token', 'userInfo'],
} as const satisfies Record<Protocol['type'], readonly EndpointName[]>;

export const providerUsesSecret = ({ credentials }: Protocol): boolean => credentials.client.token_endpoint_auth_method !== 'none';

/** Would the secret be sent to another place after the change? A caller who cannot read it must not redirect it to their own server. */
export const changesSecretRecipient = (before: Protocol, after: Protocol): boolean =>
  before.issuer?.url !== after.issuer?.url || before.endpoints?.token?.url !== after.endpoints?.token?.url;

/** Would existing links refer to other users? Subjects are unique only at one issuer (OpenID Connect Core 1.0 section 5.7). */
export const changesSubjects = (before: Protocol, after: Protocol): boolean =>
  before.issuer?.url !== after.issuer?.url ||
  (after.type === 'OAUTH2' && before.endpoints?.userInfo?.url !== after.endpoints?.userInfo?.url);

const withoutUndefined = (values: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** Java with Spring Boot and Spring Security: a web application that signs users in. */
import { type Facts, listensOnWeb, type Snippet, type SnippetFile, sendsSecret, signsIn, stringLiteral } from './snippet.ts';

const BOOT = '3.5.7';

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>${BOOT}</version>
  </parent>
  <groupId>com.example</groupId>
  <artifactId>app</artifactId>
  <version>1</version>
  <properties>
    <java.version>17</java.version>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-web</artifactId>
    </dependency>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-oauth2-client</artifactId>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.springframework.boot</groupId>
        <artifactId>spring-boot-maven-plugin</artifactId>
      </plugin>
    </plugins>
  </build>
</project>
`;

const configuration = ({
  issuer,
  clientId,
  redirectUri,
  scope,
  authentication,
}: Facts & { readonly redirectUri: string }): string => `server:
  port: ${new URL(redirectUri).port || '3000'}
  # Behind a proxy, trust the forwarded address
  forward-headers-strategy: framework
spring:
  security:
    oauth2:
      client:
        registration:
          provider:
            client-id: ${stringLiteral(clientId)}
            client-secret: \${CLIENT_SECRET}
            client-authentication-method: ${authentication}
            authorization-grant-type: authorization_code
            redirect-uri: ${stringLiteral(redirectUri)}
            scope: ${stringLiteral(scope.replaceAll(' ', ','))}
        provider:
          provider:
            issuer-uri: ${stringLiteral(issuer)}
`;

const application = ({ redirectUri }: Facts & { readonly redirectUri: string }): string => `package com.example;

import java.util.Base64;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.crypto.keygen.Base64StringKeyGenerator;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizationRequestResolver;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestCustomizers;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Application {
  public static void main(String[] args) {
    SpringApplication.run(Application.class, args);
  }

  @GetMapping("/")
  Map<String, Object> me(@AuthenticationPrincipal OidcUser user) {
    return user.getClaims();
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository registrations) throws Exception {
    var requests = new DefaultOAuth2AuthorizationRequestResolver(registrations, "/oauth2/authorization");
    // PKCE, and a state without the trailing = of Spring's default, which the authorization server refuses
    var states = new Base64StringKeyGenerator(Base64.getUrlEncoder().withoutPadding());
    requests.setAuthorizationRequestCustomizer(
        OAuth2AuthorizationRequestCustomizers.withPkce().andThen(request -> request.state(states.generateKey())));
    return http
        .authorizeHttpRequests(all -> all.anyRequest().authenticated())
        .oauth2Login(login -> login
            .authorizationEndpoint(endpoint -> endpoint.authorizationRequestResolver(requests))
            .redirectionEndpoint(endpoint -> endpoint.baseUri(${stringLiteral(new URL(redirectUri).pathname)})))
        .logout(Customizer.withDefaults())
        .build();
  }
}
`;

function files(facts: Facts): readonly SnippetFile[] {
  if (!signsIn(facts)) return [];
  return [
    { name: 'pom.xml', text: pom },
    { name: 'src/main/resources/application.yml', text: configuration(facts) },
    { name: 'src/main/java/com/example/Application.java', text: application(facts) },
  ];
}

export const springBootSnippet: Snippet = {
  id: 'spring-boot',
  label: 'Spring Boot (Java)',
  about: `Spring Boot ${BOOT} on Java 17 or newer, built with Maven: three files in a directory of their own.`,
  firstFor: ['web'],
  matches: (facts) => facts.kind === 'web' && sendsSecret(facts) && signsIn(facts) && listensOnWeb(facts),
  files,
  run: () => 'CLIENT_SECRET=… mvn spring-boot:run',
};

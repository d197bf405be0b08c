// Okta's SDK for Go as the tests use it (../foreign-go.test.ts, ../foreign-terraform.test.ts).
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/okta/okta-sdk-golang/v5/okta"
)

func must(err error) {
	if err == nil {
		return
	}
	if api, ok := err.(*okta.GenericOpenAPIError); ok {
		panic(string(api.Body()))
	}
	panic(err)
}

// The models have a setter for each field; JSON is shorter.
func from[T any](format string, values ...any) (value T) {
	must(json.Unmarshal([]byte(fmt.Sprintf(format, values...)), &value))
	return value
}

func get[T any](value T, _ *okta.APIResponse, err error) T {
	must(err)
	return value
}

func done(_ *okta.APIResponse, err error) { must(err) }

func connect() (*okta.APIClient, context.Context) {
	// It drops the port of the address; a proxy brings it back.
	proxy, err := url.Parse(os.Getenv("FORWARD"))
	must(err)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	config, err := okta.NewConfiguration(okta.WithOrgUrl("http://gatehouse.invalid"), okta.WithToken(os.Getenv("TOKEN")),
		okta.WithTestingDisableHttpsCheck(true), okta.WithHttpClientPtr(client), okta.WithCache(false))
	must(err)
	return okta.NewAPIClient(config), context.Background()
}

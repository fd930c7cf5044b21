package ec2

import (
	"fmt"
	"time"
)

type getParameterInput struct {
	Name           string
	WithDecryption bool
}

type getParametersInput struct {
	Names          []string
	WithDecryption bool
}

type parameterAnswer struct {
	Parameter parameter
}

type parametersAnswer struct {
	Parameters        []parameter
	InvalidParameters []string
}

type parameter struct {
	ARN              string
	DataType         string
	LastModifiedDate float64 // Unix seconds
	Name             string
	Type             string
	Value            string
	Version          int
}

// imagesPublished is when every image of the catalog came out.
var imagesPublished = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

func (r *region) getParameter(in *getParameterInput) (*parameterAnswer, error) {
	p, ok := r.parameter(in.Name)
	if !ok {
		return nil, bad("ParameterNotFound", "")
	}
	return &parameterAnswer{p}, nil
}

func (r *region) getParameters(in *getParametersInput) (*parametersAnswer, error) {
	a := &parametersAnswer{Parameters: []parameter{}, InvalidParameters: []string{}}
	for _, name := range in.Names {
		if p, ok := r.parameter(name); ok {
			a.Parameters = append(a.Parameters, p)
		} else {
			a.InvalidParameters = append(a.InvalidParameters, name)
		}
	}
	return a, nil
}

func (r *region) parameter(name string) (parameter, bool) {
	img, ok := r.imageByParameter(name)
	if !ok {
		return parameter{}, false
	}
	return parameter{
		ARN:      fmt.Sprintf("arn:%s:ssm:%s::parameter%s", r.partition, r.name, name),
		DataType: "aws:ec2:image", LastModifiedDate: float64(imagesPublished.Unix()),
		Name: name, Type: "String", Value: img.id(r.name), Version: 1,
	}, true
}
